import type { IncomingHttpHeaders } from 'node:http'

/** What JSON.parse answers: tests read what they know to be there. */
export type Parsed = ReturnType<typeof JSON.parse>

/** A message of a chat-completions request. */
export interface ChatMessage {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}

/** A tool as the model is told of it. */
export interface ChatTool {
  readonly type: string
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters?: Record<string, unknown>
  }
}

/** A request as the model received it; `ended` says how its answer ended, once it has. */
export interface ReceivedRequest {
  readonly id: number
  readonly at: number
  readonly headers: IncomingHttpHeaders
  readonly body: {
    readonly model: string
    readonly messages: readonly ChatMessage[]
    readonly tools?: readonly ChatTool[]
  }
  /** The bytes of the body, for byte-identity checks. */
  readonly raw: string
  ended?: 'complete' | 'aborted'
}

/** The plain text of a message's content. */
export function textOf(content: ChatMessage['content'] | undefined): string {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
}

/** All that a request says to the model, one line per message with its role. */
export function transcript(request: ReceivedRequest): string {
  return request.body.messages.map((message) => `${message.role}: ${textOf(message.content)}`).join('\n')
}

/** The names of the tools that a request declares, in order. */
export function toolNames(request: ReceivedRequest): string[] {
  return (request.body.tools ?? []).map((tool) => tool.function.name)
}

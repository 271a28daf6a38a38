import type { ContentBlock } from '@tapline/core'
import { isRecord, type Prompt, type PromptServer } from './source.ts'
import { cleanLine, cleanLines } from './text.ts'

/** What the SDK says when it cannot answer what a server asks before it answers (specification 2026-07-28, basic/patterns/mrtr). */
const ASKS_FOR_MORE = /^(?:Cannot fulfil|Invalid) input request|input[_ -]required/i
/** A conforming server refuses instead of asking somebody who has not said that they can answer (the same). */
const MISSING_CLIENT_CAPABILITY = -32_021
const UNSUPPORTED = 'The prompt asks for more input before it answers, and here nobody is asked.'
const MOST_MESSAGES = 1_000
const LONGEST_ADDRESS = 2_048

/**
 * The content of a prompt, as blocks of one message: what the messages of the server say, in order. Where they are not
 * all the user's, each is labelled with its role. Text is clean of control and escape characters, and not yet limited.
 * Rejects with a sentence for a person, or with what the request rejects with.
 */
export async function getPrompt(
  server: PromptServer,
  prompt: Prompt,
  values: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<readonly ContentBlock[]> {
  const messages = messagesIn(await resultOf(server, prompt, values, signal))
  const isConversation = messages.some(({ role }) => role !== 'user')
  const shown = messages.slice(0, MOST_MESSAGES)
  const blocks = shown.flatMap(({ role, content }) => {
    const said = content.flatMap(readable)
    return isConversation ? labelled(`[${role}]`, said) : said
  })
  if (blocks.every((block) => block.type === 'text' && block.text.trim() === ''))
    throw new Error('The prompt is empty.')
  const heading = `Prompt "${cleanLine(prompt.name, 100)}" of MCP server "${server.name}":`
  return [
    ...(isConversation ? [textBlock(heading)] : []),
    ...blocks,
    ...(messages.length > shown.length
      ? [textBlock(`[${messages.length - shown.length} more messages were left out]`)]
      : []),
  ]
}

async function resultOf(
  server: PromptServer,
  prompt: Prompt,
  values: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  let result: unknown
  try {
    // Servers that expect an object refuse to do without, also where they need nothing in it.
    const params = { name: prompt.name, arguments: Object.fromEntries(values) }
    result = await server.request('prompts/get', params, signal)
  } catch (thrown) {
    throw asksForMore(thrown) ? new Error(UNSUPPORTED, { cause: thrown }) : thrown
  }
  if (isRecord(result) && result['resultType'] === 'input_required') throw new Error(UNSUPPORTED)
  return result
}

/** Any other error of the server's own is left to it, whatever it says. */
function asksForMore(thrown: unknown): boolean {
  const { message, data } = (thrown ?? {}) as { message?: unknown; data?: { readonly code?: unknown } }
  if (data?.code !== undefined) return data.code === MISSING_CLIENT_CAPABILITY
  return typeof message === 'string' && ASKS_FOR_MORE.test(message)
}

interface Message {
  readonly role: string
  readonly content: readonly unknown[]
}

function messagesIn(result: unknown): readonly Message[] {
  if (!isRecord(result) || !Array.isArray(result['messages']))
    throw new Error('The server’s answer holds no messages.')
  return (result['messages'] as readonly unknown[]).map((message) => {
    const { role, content } = isRecord(message) ? message : {}
    if (typeof role !== 'string' || content === undefined || content === null)
      throw new Error('The server’s answer holds a message without role or content.')
    // One block is what the protocol says; some servers send a list, or plain text.
    return { role: cleanLine(role, 20), content: Array.isArray(content) ? content : [content] }
  })
}

function readable(block: unknown): readonly ContentBlock[] {
  if (typeof block === 'string') return [textBlock(cleanLines(block))]
  if (!isRecord(block)) return []
  const { type, text, resource } = block
  if (type === 'text') return typeof text === 'string' ? [textBlock(cleanLines(text))] : []
  if (type === 'resource' && isRecord(resource) && typeof resource['text'] === 'string') {
    const { uri } = resource
    const address = typeof uri === 'string' ? cleanLine(uri, LONGEST_ADDRESS) : ''
    return labelled(`Resource ${address}:`, [textBlock(cleanLines(resource['text']))])
  }
  // Whatever else it is, is judged by who limits it.
  return [block as unknown as ContentBlock]
}

function labelled(label: string, blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const [first, ...rest] = blocks
  return first?.type === 'text'
    ? [textBlock(`${label}\n${first.text}`), ...rest]
    : [textBlock(label), ...blocks]
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { AskedCall } from '../approvals.ts'

/** The tool calls that have begun and not ended. */
export interface OpenCalls {
  /** The call that a dialog which opens now asks about; undefined when it asks about none. */
  asking(): AskedCall | undefined
  close(): void
}

interface Call extends AskedCall {
  readonly id: string
  readonly parent: string | undefined
  /** It has passed this extension's own look at it, so it may be running. */
  passed: boolean
}

/**
 * Follows pi's tool calls. pi prepares the calls of one answer one after the other, and that is when they are asked
 * about; only when the last of several is prepared does the first one run.
 */
export function followCalls(pi: ExtensionAPI): OpenCalls {
  const open = new Map<string, Call>()
  /** Calls of the last answer that have not begun. */
  let toCome = 0
  const stop = [
    pi.on('message_end', ({ message }) => {
      if (message.role === 'assistant')
        toCome = message.content.filter(({ type }) => type === 'toolCall').length
    }),
    pi.on('tool_execution_start', ({ toolCallId: id, toolName, args: input, parentToolCallId: parent }) => {
      if (parent === undefined) toCome--
      open.set(id, { id, toolName, input, parent, passed: false })
    }),
    pi.on('tool_call', ({ toolCallId }) => {
      const call = open.get(toolCallId)
      if (call) call.passed = true
    }),
    pi.on('tool_execution_end', ({ toolCallId }) => void open.delete(toolCallId)),
    pi.on('agent_end', () => open.clear()),
  ]
  return {
    asking: () => {
      const calls = [...open.values()].filter(({ id }) => !hasChild(open, id))
      const last = calls.at(-1)
      if (!last || calls.length === 1 || !last.passed || toCome > 0) return last
      // It may be about any of them: all are named.
      return {
        toolName: [...new Set(calls.map(({ toolName }) => toolName))].join(', '),
        input: calls.map(({ input }) => input),
      }
    },
    close: () => stop.forEach((end) => end()),
  }
}

function hasChild(open: ReadonlyMap<string, Call>, id: string): boolean {
  return [...open.values()].some(({ parent }) => parent === id)
}

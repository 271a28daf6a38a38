import type { Plugin } from '@tapline/core'
import { createPromptBook, type PromptBook } from './book.ts'

export { quoted, readArguments, typedArgument } from './arguments.ts'
export type { ReadArguments, TypedArgument } from './arguments.ts'
export { createPromptBook } from './book.ts'
export type { PromptBook } from './book.ts'
export { createCompleter } from './completing.ts'
export type { Completer, CompleterTimes, CompletionRequest } from './completing.ts'
export { describePrompt, usageOf } from './describing.ts'
export { getPrompt } from './getting.ts'
export { listPrompts } from './listing.ts'
export type { PromptListing } from './listing.ts'
export { commandsOf, PREFIX, splitCommand } from './naming.ts'
export type { PromptCommand } from './naming.ts'
export type { Prompt, PromptArgument, PromptServer } from './source.ts'

/** What the plugin offers to the program around it. */
export interface Prompts {
  /** The prompts of the servers that the program has listed. */
  readonly book: PromptBook
  /** Tells `listener` when something is to be listed or shown anew. Answers how to end that. */
  follow(listener: PromptListener): () => void
}

/** Who is told. */
export interface PromptListener {
  /** What a server offers is not what it was. */
  onChange(server: string): void
  /** A server says that its list is another one now; or it is heard from here on, and may have said so before. */
  onStale(server: string, why: 'changed' | 'heard'): void
}

/** Options of the plugin. */
export interface PromptsOptions {
  /** Given the plugin's face when it is set up. */
  onReady?(prompts: Prompts): void
}

/** The protocol's own spelling and pi-loops', and what a modern server says when it begins to tell of changes. */
const STALE: ReadonlyMap<string, 'changed' | 'heard'> = new Map([
  ['notifications/prompts/list_changed', 'changed'],
  ['notifications/prompts/listChanged', 'changed'],
  ['notifications/subscriptions/acknowledged', 'heard'],
])

/** Prompts of MCP servers, for a program in which somebody types commands. */
export const prompts = ({ onReady }: PromptsOptions = {}): Plugin => ({
  name: 'prompts',
  api: 1,
  setup({ hooks }) {
    const listeners = new Set<PromptListener>()
    const book = createPromptBook((server) => {
      for (const listener of listeners) listener.onChange(server)
    })
    // Only listens: what becomes of the notification is not its business.
    hooks.notify.tap({ stage: 'early' }, (notice) => {
      const why = notice.kind === 'raw' ? STALE.get(notice.method) : undefined
      if (notice.kind === 'raw' && why !== undefined)
        for (const listener of listeners) listener.onStale(notice.server, why)
      return undefined
    })
    onReady?.({
      book,
      follow: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
    return () => book.close()
  },
})

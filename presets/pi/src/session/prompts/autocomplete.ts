import type { AutocompleteProviderFactory } from '@earendil-works/pi-coding-agent'
import { describePrompt, PREFIX, type PromptCommand } from '@tapline/prompts'

type Provider = ReturnType<AutocompleteProviderFactory>
type Suggestions = NonNullable<Awaited<ReturnType<Provider['getSuggestions']>>>
/** One line of the menu. */
export type Item = Suggestions['items'][number]

/** Nobody looks through more of them: typing on is quicker, also for the terminal. */
const MOST_OFFERED = 200

/** What the terminal completes from, as it is at that moment. */
export interface Offered {
  /** The commands that exist now. */
  commands(): readonly PromptCommand[]
  /** Whether a command of this name was registered in this session. */
  isOwn(name: string): boolean
  /** What may stand behind a command, of which `typed` is there. */
  complete(name: string, typed: string, signal: AbortSignal): Promise<readonly Item[]>
}

/**
 * Completes the commands of prompts and their arguments, and leaves everything else to whoever did before. pi knows
 * commands as they were when a provider was added last, and forgets none: these are offered from what there is now.
 */
export function completePrompts({ commands, isOwn, complete }: Offered): AutocompleteProviderFactory {
  return (current) => ({
    getSuggestions: async (lines, line, column, options) => {
      const before = (lines[line] ?? '').slice(0, column).trimStart()
      const [, name = '', typed] = (line === 0 && /^\/(\S*)(?: ([^]*))?$/.exec(before)) || []
      if (typed !== undefined && isOwn(name)) {
        const items = await complete(name, typed, options.signal)
        if (items.length > 0) return { items: [...items], prefix: typed }
      }
      const others = await current.getSuggestions(lines, line, column, options)
      if (!before.startsWith('/') || typed !== undefined || line !== 0) return others
      const items = [
        ...(others?.items ?? []).filter(({ value }) => !isOwn(value)),
        ...matching(commands(), name).slice(0, MOST_OFFERED).map(itemOf),
      ]
      return items.length === 0 ? null : { items, prefix: others?.prefix ?? before }
    },
    applyCompletion: (...completion) => current.applyCompletion(...completion),
    shouldTriggerFileCompletion: (...place) => current.shouldTriggerFileCompletion?.(...place) ?? true,
  })
}

/** The commands that somebody who has typed this may mean, the likeliest first. */
export function matching(commands: readonly PromptCommand[], typed: string): readonly PromptCommand[] {
  const wanted = typed.toLowerCase()
  const ranked = commands.flatMap((command) => {
    const name = command.name.toLowerCase()
    const prompt = name.slice(PREFIX.length + command.server.length + 1)
    const ranks = [
      name.startsWith(wanted),
      prompt.startsWith(wanted),
      name.includes(wanted),
      holds(name, wanted),
    ]
    const rank = ranks.indexOf(true)
    return rank < 0 ? [] : [{ command, rank }]
  })
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ command }) => command)
}

/** Whether the characters stand in the text in this order, as pi matches commands. */
function holds(text: string, characters: string): boolean {
  let at = 0
  for (const character of characters) {
    at = text.indexOf(character, at) + 1
    if (at === 0) return false
  }
  return true
}

function itemOf({ name, server, prompt }: PromptCommand): Item {
  return { value: name, label: name, description: describePrompt(server, prompt) }
}

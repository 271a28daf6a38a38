import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import {
  createCompleter,
  describePrompt,
  type Prompt,
  quoted,
  splitCommand,
  typedArgument,
} from '@tapline/prompts'
import { completePrompts, type Item } from './autocomplete.ts'
import type { PromptLists } from './lists.ts'

/** pi forgets none. Those of a server that renames its prompts again and again are run without being commands. */
const MOST_COMMANDS = 5_000
const LONGEST_LABEL = 60
const LONGEST_ABOUT = 100

/** The prompts of servers among pi's slash commands. */
export interface PromptCommands {
  /** What this server offers is not what it was. */
  sync(server: string): void
  close(): void
}

/** What {@link createCommands} takes. */
export interface PromptCommandsOptions {
  readonly pi: ExtensionAPI
  readonly ctx: ExtensionContext
  /** The servers and what they offer, as they are now. */
  current(): { readonly tapline: Tapline; readonly lists: PromptLists } | undefined
  run(name: string, typed: string, ctx: ExtensionCommandContext): Promise<void>
}

/** The commands of one session. Where nobody types or asks for commands there are none. */
export function createCommands({ pi, ctx, current, run }: PromptCommandsOptions): PromptCommands {
  const completer = createCompleter()
  /** What each registered command is described as: pi cannot forget a command. */
  const registered = new Map<string, string>()
  let completes = false
  let closed = false

  const complete = async (name: string, typed: string, signal: AbortSignal): Promise<readonly Item[]> => {
    const { lists, tapline } = current() ?? {}
    const command = lists?.book.command(name)
    const server = command && tapline?.server(command.server)
    const place = command && typedArgument(command.prompt, typed)
    if (!lists || !place || server?.session.status.state !== 'connected') return []
    const { prompt } = command
    const request = { prompt: prompt.name, ...place }
    const values = await completer.complete(lists.sourceOf(server), request, signal)
    // Enter would only complete what is complete already.
    if (values.length === 0 || (place.value !== '' && values.includes(place.value))) return []
    return values.map((value, index) => ({
      value: `${place.before}${quoted(prompt, value)}`,
      label: cleanText(value, LONGEST_LABEL),
      // Once is enough to know what is being typed.
      ...(index === 0 ? { description: aboutArgument(prompt, place.argument) } : {}),
    }))
  }
  const register = (name: string, description: string): void => {
    const known = registered.get(name)
    if (known === description || (known === undefined && registered.size >= MOST_COMMANDS)) return
    // What may stand behind it is completed below: pi would ask for it once more where there is nothing.
    pi.registerCommand(name, { description, handler: (typed, commandCtx) => run(name, typed, commandCtx) })
    registered.set(name, description)
  }
  /** Once: each provider that is added closes an open menu. */
  const completeInTerminal = (): void => {
    if (ctx.mode !== 'tui' || completes || registered.size === 0) return
    completes = true
    ctx.ui.addAutocompleteProvider(
      completePrompts({
        commands: () => current()?.lists.book.commands ?? [],
        isOwn: (name) => registered.has(name),
        complete,
      }),
    )
  }

  return {
    sync: (server) => {
      if ((ctx.mode !== 'tui' && ctx.mode !== 'rpc') || closed) return
      const offered = current()?.lists.book.commandsOf(server) ?? []
      const names = new Set(offered.map(({ name }) => name))
      try {
        for (const { name, prompt } of offered) register(name, describePrompt(server, prompt))
        for (const name of registered.keys())
          if (splitCommand(name)?.server === server && !names.has(name))
            register(name, `No longer offered by MCP server "${server}"`)
        completeInTerminal()
      } catch {
        // The session has ended.
      }
    },
    close: () => {
      closed = true
      completer.close()
    },
  }
}

function aboutArgument(prompt: Prompt, name: string): string {
  const { description } = prompt.arguments.find((argument) => argument.name === name) ?? {}
  return cleanText(description === undefined ? name : `${name}: ${description}`, LONGEST_ABOUT)
}

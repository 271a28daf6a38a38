import type { ExtensionContext, ExtensionUIContext } from '@earendil-works/pi-coding-agent'
import type { Channels } from '@tapline/channels'
import type { ApprovalOptions } from '../approvals.ts'
import type { OpenCalls } from './open-calls.ts'

/** Options of a list by which a person says yes or no to this one thing. */
const YES = /^(?:yes|y|allow|approve|accept|ok|okay|run|proceed|continue)(?:,? (?:once|this time|it))?[.!]?$/i
const NO = /^(?:no|n|deny|block|reject|refuse|cancel|decline|stop)(?:,? (?:thanks|it))?[.!]?$/i

/** What the relay of dialogs stands on. */
export interface DialogParts {
  readonly calls: OpenCalls
  /** Undefined while Tapline is being set up. */
  channels(): Channels | undefined
}

/**
 * Relays approvals that extensions ask for. All of them share pi's `ctx.ui`: its `confirm`, and its `select` where the
 * choice is a plain yes or no, also ask channels while a tool call waits. The dialog stays open, and the first answer
 * counts. Answers how to end that.
 */
export function relayDialogs({ ui, hasUI }: ExtensionContext, parts: DialogParts): () => void {
  if (!hasUI) return () => undefined
  let ended = false
  const ask = relayed(ui, { ...parts, channels: () => (ended ? undefined : parts.channels()) })
  const restore = [
    replace(ui, 'confirm', (confirm) => (title, message, options?: ApprovalOptions) => {
      const show: Show<boolean> = (signal) => {
        const how = withSignal(options, signal)
        return options?.show?.(how?.signal) ?? confirm(title, message, how)
      }
      return ask({ text: `${title}\n${message}`, options }, { allow: true, deny: false }, show)
    }),
    replace(ui, 'select', (select) => (title, choices, options?: ApprovalOptions) => {
      const show: Show<string | undefined> = (signal) => select(title, choices, withSignal(options, signal))
      const [allow, deny] = [only(choices, YES), only(choices, NO)]
      if (allow === undefined || deny === undefined) return show()
      return ask({ text: title, options }, { allow, deny }, show)
    }),
  ]
  return () => {
    ended = true
    restore.forEach((put) => put())
  }
}

/** Opens the dialog; the signal closes it. */
type Show<T> = (signal?: AbortSignal) => Promise<T>

interface Asked {
  readonly text: string
  readonly options: ApprovalOptions | undefined
}

type Ask = <T>(asked: Asked, answers: { readonly allow: T; readonly deny: T }, show: Show<T>) => Promise<T>

/** One dialog, here and at the channels. */
function relayed(ui: ExtensionUIContext, { calls, channels }: DialogParts): Ask {
  return async ({ text, options }, answers, show) => {
    const call = options?.relay === false ? undefined : (options?.relay ?? calls.asking())
    const pending =
      call === undefined || options?.signal?.aborted
        ? undefined
        : channels()?.ask({ toolName: call.toolName, description: text, input: call.input })
    if (!pending) return show()
    const elsewhere = new AbortController()
    const here = (async () => show(elsewhere.signal))().finally(() => pending.withdraw('answered_here'))
    const verdict = await Promise.race([pending.verdict, here.then(ignore, ignore)])
    // Nobody answered from afar, or not in time: the person here still may.
    if (!verdict) return here
    elsewhere.abort()
    here.catch(ignore)
    ui.notify(
      `Channel "${verdict.server}" ${verdict.behavior === 'allow' ? 'allowed' : 'denied'} ${call?.toolName}.`,
      'info',
    )
    return answers[verdict.behavior]
  }
}

/** Puts another function in the place of one of pi's; where that is not possible, dialogs are not relayed. */
function replace<K extends 'confirm' | 'select'>(
  ui: ExtensionUIContext,
  name: K,
  make: (original: ExtensionUIContext[K]) => ExtensionUIContext[K],
): () => void {
  const original = ui[name]
  const made = make(original.bind(ui) as ExtensionUIContext[K])
  try {
    ui[name] = made
  } catch {
    return () => undefined
  }
  return () => {
    // Whoever has replaced it since keeps theirs; ours then only passes on.
    if (ui[name] === made) ui[name] = original
  }
}

function withSignal(
  options: ApprovalOptions | undefined,
  signal: AbortSignal | undefined,
): ApprovalOptions | undefined {
  if (!signal) return options
  return { ...options, signal: options?.signal ? AbortSignal.any([options.signal, signal]) : signal }
}

/** The one choice that says this; undefined when none does, or several. */
function only(choices: readonly string[], meaning: RegExp): string | undefined {
  const found = choices.filter((choice) => meaning.test(choice.trim()))
  return found.length === 1 ? found[0] : undefined
}

function ignore(): undefined {
  return undefined
}

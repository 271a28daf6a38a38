import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText } from '@tapline/core'

const WIDGET = 'tapline:prompt'
/** What takes no longer is not spoken of, in milliseconds. */
const SILENT_MS = 400
/** The key Escape as terminals send it: plain, twice at once, and in the two ways of the keyboard protocols. */
// oxlint-disable-next-line no-control-regex -- that is what a terminal sends
const ESCAPE = /^\u001B(?:\u001B|\[27(?:;1(?::1)?)?(?:u|;27~))?$/

/**
 * Runs `work` for a person who may cancel it with Escape; says what is waited for once it takes a moment. Where the agent
 * runs meanwhile, it is aborted with that: over RPC there is no other way, and none while the agent is idle.
 */
export async function whileWaiting<T>(
  { mode, ui, signal }: Pick<ExtensionContext, 'mode' | 'ui' | 'signal'>,
  what: string,
  ended: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const aborted = signal ? AbortSignal.any([ended, signal]) : ended
  if (mode !== 'tui') return work(aborted)
  const cancelled = new AbortController()
  const show = (lines: string[] | undefined): void => {
    try {
      ui.setWidget(WIDGET, lines)
    } catch {
      // The session has ended.
    }
  }
  let isShown = false
  const timer = setTimeout(() => {
    isShown = true
    show([`${cleanText(what, 200)} (escape cancels)`])
  }, SILENT_MS)
  const stopListening = ui.onTerminalInput((data) => {
    if (!ESCAPE.test(data)) return undefined
    cancelled.abort()
    return { consume: true }
  })
  try {
    return await work(AbortSignal.any([aborted, cancelled.signal]))
  } finally {
    stopListening()
    clearTimeout(timer)
    if (isShown) show(undefined)
  }
}

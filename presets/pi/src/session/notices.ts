import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { type Diagnostic, settledWithin } from '@tapline/core'

const GATHER_MS = 250
const LONGEST_HOLD_MS = 10_000

/** Messages to the person, gathered so that a start with several problems is one message. What is merely worth knowing is left to `/mcp`. */
export interface Notices {
  say(diagnostic: Diagnostic): void
  /** A state file that could not be read was kept under another name. */
  setAside(path: string, keptAs: string): void
  /** Holds back what is said until this has settled, or for ten seconds: a start is told of once, and whole. */
  holdUntil(settled: Promise<unknown>): void
  /** Nothing more is said; where only standard error is read, what was gathered still is. */
  close(): void
}

/**
 * Notices of one session: what is said within a moment is shown together, nothing twice. Without a user
 * interface they go to standard error, since pi shows none of them there.
 */
export function createNotices(ctx: ExtensionContext): Notices {
  const { hasUI } = ctx
  const said = new Set<string>()
  let gathered: Diagnostic[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let held = 0
  const show = (): void => {
    timer = undefined
    if (gathered.length === 0) return
    const shown = gathered
    gathered = []
    const lines = shown.map(({ message }) => message)
    const list = `MCP needs attention:\n${lines.map((line) => `  ${line}`).join('\n')}`
    const text = lines.length === 1 ? lines.join() : list
    try {
      if (hasUI) ctx.ui.notify(text === list ? `${list}\nRun /mcp to see every server.` : text, 'warning')
      else process.stderr.write(`${text}\n`)
    } catch {
      // The session has ended: nobody is there to read it.
    }
  }
  const showSoon = (): void => {
    if (held === 0 && gathered.length > 0 && !closed) timer ??= setTimeout(show, GATHER_MS)
  }
  const say = (diagnostic: Diagnostic): void => {
    if (closed || diagnostic.severity === 'info' || said.has(diagnostic.message)) return
    said.add(diagnostic.message)
    gathered.push(diagnostic)
    showSoon()
  }
  return {
    say,
    setAside: (path, keptAs) =>
      say({ severity: 'warning', message: `${path} could not be read and was set aside as ${keptAs}.` }),
    holdUntil: (settled) => {
      held += 1
      void settledWithin(LONGEST_HOLD_MS, () => settled).then(() => {
        held -= 1
        showSoon()
      })
    },
    close: () => {
      closed = true
      clearTimeout(timer)
      if (!hasUI) show()
    },
  }
}

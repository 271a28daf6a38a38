import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Diagnostic } from '@tapline/core'

const GATHER_MS = 250

/** Messages to the person, gathered so that a start with several problems is one message. What is merely worth knowing is left to `/mcp`. */
export interface Notices {
  say(diagnostic: Diagnostic): void
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
  const show = (): void => {
    timer = undefined
    const shown = gathered
    gathered = []
    const lines = shown.map(({ message }) => message)
    const text =
      lines.length === 1 ? lines[0] : `MCP needs attention:\n${lines.map((line) => `  ${line}`).join('\n')}`
    try {
      if (hasUI) ctx.ui.notify(text as string, 'warning')
      else process.stderr.write(`${text}\n`)
    } catch {
      // The session has ended: nobody is there to read it.
    }
  }
  return {
    say: (diagnostic) => {
      if (closed || diagnostic.severity === 'info' || said.has(diagnostic.message)) return
      said.add(diagnostic.message)
      gathered.push(diagnostic)
      timer ??= setTimeout(show, GATHER_MS)
    },
    close: () => {
      closed = true
      if (timer === undefined) return
      clearTimeout(timer)
      if (!hasUI) show()
    },
  }
}

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Diagnostic } from '@tapline/core'

const GATHER_MS = 250

/** Messages to the person, gathered so that a start with several problems is one message. What is merely worth knowing is left to `/mcp`. */
export interface Notices {
  say(diagnostic: Diagnostic): void
}

/** Notices of one session: what is said within a moment is shown together, nothing twice. */
export function createNotices(ctx: ExtensionContext): Notices {
  const said = new Set<string>()
  let gathered: Diagnostic[] = []
  let timer: NodeJS.Timeout | undefined
  const show = (): void => {
    timer = undefined
    const shown = gathered
    gathered = []
    const lines = shown.map(({ message }) => message)
    const text = lines.length === 1 ? lines[0] : `MCP needs attention:\n${lines.map((line) => `  ${line}`).join('\n')}`
    try {
      ctx.ui.notify(text as string, 'warning')
    } catch {
      // The session has ended: nobody is there to read it.
    }
  }
  return {
    say: (diagnostic) => {
      if (diagnostic.severity === 'info' || said.has(diagnostic.message)) return
      said.add(diagnostic.message)
      gathered.push(diagnostic)
      timer ??= setTimeout(show, GATHER_MS)
    },
  }
}

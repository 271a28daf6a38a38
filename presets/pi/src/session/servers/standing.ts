import { cleanText, type SessionStatus } from '@tapline/core'
import { type Server, serverLine } from '@tapline/headless'
import type { Color } from '../screen/line.ts'
import type { Toolbox } from '../toolbox.ts'

const LONGEST = 300

/** Where a server stands, to be seen at a glance. */
export interface Standing {
  /** One column. */
  readonly mark: string
  readonly color: Color
  /** `connected · 14 tools`, on one line. */
  readonly text: string
}

/** Where a server stands now. */
export function standingOf(
  server: Server,
  { state, reason }: Pick<SessionStatus, 'state' | 'reason'>,
  toolbox: Pick<Toolbox, 'toolsOf'>,
): Standing {
  const { spec } = server
  const { listError = reason } = server
  // The line begins with the name.
  const words = serverLine(server, toolbox.toolsOf(spec.name).length).slice(spec.name.length + 2)
  const text = cleanText(words, LONGEST)
  if (!spec.enabled) return { mark: '∘', color: 'dim', text }
  switch (state) {
    case 'connected':
      return listError === undefined
        ? { mark: '•', color: 'success', text }
        : { mark: '!', color: 'warning', text: `connected, but ${cleanText(listError, LONGEST)}` }
    case 'auth_failed':
      return { mark: '!', color: 'warning', text }
    case 'disconnected':
      return { mark: '×', color: 'error', text }
    case 'reconnecting':
      return { mark: '↻', color: 'warning', text }
    default:
      return { mark: '…', color: 'muted', text }
  }
}

/** What is wrong with a server, whole, and what a person can do; nothing where nothing is. */
export function troubleOf({ spec, session, listError }: Server): {
  readonly reason?: string
  readonly advice?: string
} {
  if (!spec.enabled) return {}
  const { state, reason, attention } = session.status
  const wrong = (state === 'connected' ? listError : undefined) ?? reason
  return {
    ...(wrong === undefined ? {} : { reason: wrong }),
    ...(attention === undefined ? {} : { advice: attention }),
  }
}

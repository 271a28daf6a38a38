import type { Outlook } from './outlook.ts'
import type { PiSession } from './session/session.ts'

/** A session that nobody is waiting for is opened this long after pi's first render, in milliseconds. */
const QUIET_MS = 50
/** When a prompt came first, at most this long after its request was made: loading must not hold the request up. */
const AFTER_REQUEST_MS = 200

/** When the session is opened: at once, later, or when somebody asks for it. */
export interface Opening {
  /** Plans the opening as the outlook demands. */
  plan(outlook: Outlook): void
  /** The session, opened now if it was not yet. */
  ensure(): Promise<PiSession>
  /** The session if it was opened, once it is there; undefined also when it could not be. */
  opened(): Promise<PiSession | undefined>
  /** A prompt starts: what was planned for a quiet moment comes after its first request. */
  promptStarts(): void
  /** A request to the model is being sent. */
  requestMade(): void
  /** What was sent has arrived. */
  requestArrived(): void
  /** Nothing is opened any more; answers what was. */
  end(): Promise<PiSession | undefined>
}

/** The opening of one pi session. `open` is called at most once. */
export function createOpening(open: () => Promise<PiSession>): Opening {
  let session: Promise<PiSession> | undefined
  let timer: NodeJS.Timeout | undefined
  let afterRequest = false
  let ended = false

  const ensure = (): Promise<PiSession> => {
    clearTimeout(timer)
    if (ended) return Promise.reject(new Error('The session has ended.'))
    session ??= open()
    return session
  }
  const later = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void ensure().catch(() => undefined), ms)
  }
  const opened = (): Promise<PiSession | undefined> =>
    session?.catch(() => undefined) ?? Promise.resolve(undefined)
  return {
    plan: ({ empty, waits }) => {
      if (waits) void ensure().catch(() => undefined)
      else if (!empty) later(QUIET_MS)
    },
    ensure,
    opened,
    promptStarts: () => {
      if (session || timer === undefined) return
      clearTimeout(timer)
      afterRequest = true
    },
    requestMade: () => {
      if (!afterRequest) return
      afterRequest = false
      later(AFTER_REQUEST_MS)
    },
    requestArrived: () => {
      if (session || timer === undefined) return
      afterRequest = false
      later(0)
    },
    end: () => {
      ended = true
      clearTimeout(timer)
      return opened()
    },
  }
}

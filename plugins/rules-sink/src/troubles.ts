/** What a person should know of the state on disk. */
export interface Troubles {
  /** Said once, and that is all. */
  tell(text: string): void
  /** Something happened to it. Said once. */
  happened(text: string): void
  /** This does not work, and why. Said once for each reason. */
  fails(what: string, text: string): void
  /** This works, again or still. */
  works(what: string): void
  /** What does not work now, the latest first; else what happened last. */
  readonly latest: string | undefined
}

/** `say` is given each text once. */
export function createTroubles(say: (text: string) => void): Troubles {
  const said = new Set<string>()
  const failing = new Map<string, string>()
  let last: string | undefined
  const tell = (text: string): void => {
    if (said.has(text)) return
    said.add(text)
    say(text)
  }
  return {
    tell,
    happened: (text) => {
      last = text
      tell(text)
    },
    fails: (what, text) => {
      failing.delete(what)
      failing.set(what, text)
      tell(text)
    },
    works: (what) => void failing.delete(what),
    get latest() {
      return [...failing.values()].at(-1) ?? last
    },
  }
}

/** Why something failed. Without the names of files, since those that are written beside others differ each time. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, code } = thrown as NodeJS.ErrnoException
  return code !== undefined && message.startsWith(`${code}:`) ? (message.split(',')[0] as string) : message
}

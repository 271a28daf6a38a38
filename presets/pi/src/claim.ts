const OWNER = Symbol.for('tapline.pi')

interface Process {
  [OWNER]?: string
}

/** One copy of Tapline runs in a process. */
export interface Claim {
  release(): void
}

/** Claims this process for this copy; undefined when another copy has it. */
export function claimProcess(): Claim | undefined {
  const process = globalThis as Process
  if (process[OWNER] !== undefined) return undefined
  const owner = import.meta.url
  process[OWNER] = owner
  return {
    release: () => {
      if (process[OWNER] === owner) delete process[OWNER]
    },
  }
}

/** What the copy that stands down says. */
export function standDownMessage(): string {
  return (
    `A second copy of Tapline at ${new URL('.', import.meta.url).pathname} does nothing: the one at ` +
    `${new URL('.', (globalThis as Process)[OWNER] ?? import.meta.url).pathname} is already loaded. Remove one of the two.`
  )
}

/** Senders that are remembered; the one that was silent for longest goes first. */
const MOST_SENDERS = 1_000
/** A server names its senders itself: all together may say so many times as much as one. */
const ALL_TOGETHER = 10

/** Counts what each sender may still say. */
export interface Senders {
  /** Whether this one may speak now; counts it if so. */
  admits(server: string, sender: string | undefined): boolean
}

/**
 * Lets each sender of each server through `most` times in any `periodMs`, and all senders of a server together ten times
 * as often. The clock is monotonic: one that is set opens nothing.
 */
export function limitSenders(most: number, periodMs: number, now = () => performance.now()): Senders {
  const spoken = new Map<string, readonly number[]>()
  return {
    admits: (server, sender) => {
      const time = now()
      const limits = [
        { key: JSON.stringify([server, sender ?? '']), limit: most },
        { key: JSON.stringify([server]), limit: most * ALL_TOGETHER },
      ].map(({ key, limit }) => {
        const recent = (spoken.get(key) ?? []).filter((at) => time - at < periodMs)
        return { key, recent, hasRoom: recent.length < limit }
      })
      const admitted = limits.every(({ hasRoom }) => hasRoom)
      for (const { key, recent } of limits) {
        spoken.delete(key)
        spoken.set(key, admitted ? [...recent, time] : recent)
      }
      while (spoken.size > MOST_SENDERS) spoken.delete(spoken.keys().next().value as string)
      return admitted
    },
  }
}

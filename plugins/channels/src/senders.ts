/** Senders that are remembered; the one that was silent for longest goes first. */
const MOST_SENDERS = 1_000

/** Counts what each sender may still say. */
export interface Senders {
  /** Whether this one may speak now; counts it if so. */
  admits(server: string, sender: string | undefined): boolean
}

/** Lets each sender of each server through `most` times in any `periodMs`. The clock is monotonic: one that is set opens nothing. */
export function limitSenders(most: number, periodMs: number, now = () => performance.now()): Senders {
  const spoken = new Map<string, readonly number[]>()
  return {
    admits: (server, sender) => {
      const key = `${server}\n${sender ?? ''}`
      const time = now()
      const recent = (spoken.get(key) ?? []).filter((at) => time - at < periodMs)
      const admitted = recent.length < most
      spoken.delete(key)
      spoken.set(key, admitted ? [...recent, time] : recent)
      if (spoken.size > MOST_SENDERS) spoken.delete(spoken.keys().next().value as string)
      return admitted
    },
  }
}

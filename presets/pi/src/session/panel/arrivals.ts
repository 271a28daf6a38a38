const MINUTE_MS = 60_000
/** Minutes that are remembered. */
const MINUTES = 60

/** How much arrived in each of the last sixty minutes, by source. */
export interface Arrivals {
  add(source: string, count: number, now: number): void
  /** Counts by minute, the current one last. */
  of(source: string, now: number): readonly number[]
  /** Sources from which anything came in the last hour, those with the most first. */
  sources(now: number): readonly { readonly source: string; readonly total: number }[]
}

/** A ring of minutes for each source: adding costs the same however much has arrived. */
export function createArrivals(): Arrivals {
  const rings = new Map<string, { readonly counts: Uint32Array; newest: number }>()
  /** Minutes that nobody has written to since are empty. */
  const advance = (ring: { readonly counts: Uint32Array; newest: number }, minute: number): void => {
    const passed = Math.min(minute - ring.newest, MINUTES)
    for (let step = 1; step <= passed; step++) ring.counts[(ring.newest + step) % MINUTES] = 0
    // A clock that was set back goes on with the newest minute.
    if (minute > ring.newest) {
      if (passed === MINUTES) ring.counts.fill(0)
      ring.newest = minute
    }
  }
  const of = (source: string, now: number): readonly number[] => {
    const ring = rings.get(source)
    if (!ring) return Array<number>(MINUTES).fill(0)
    advance(ring, Math.floor(now / MINUTE_MS))
    return Array.from(
      { length: MINUTES },
      (_, index) => ring.counts[(ring.newest + 1 + index) % MINUTES] ?? 0,
    )
  }
  return {
    add: (source, count, now) => {
      const minute = Math.floor(now / MINUTE_MS)
      let ring = rings.get(source)
      if (!ring) rings.set(source, (ring = { counts: new Uint32Array(MINUTES), newest: minute }))
      advance(ring, minute)
      ring.counts[ring.newest % MINUTES]! += count
    },
    of,
    sources: (now) =>
      [...rings.keys()]
        .map((source) => ({ source, total: of(source, now).reduce((sum, count) => sum + count, 0) }))
        .filter(({ total }) => total > 0)
        .toSorted((a, b) => b.total - a.total || (a.source < b.source ? -1 : 1)),
  }
}

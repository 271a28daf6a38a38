import type { DedupVerdict } from '../types/index.ts'

/** What the window holds for a trigger while it is delivered, if there is a window. */
export type Claim = Extract<DedupVerdict, { verdict: 'first' }> | undefined

/** A claim that cannot be settled is the window's loss: the trigger and those behind it go on. */
export function conclude(claim: Claim, end: 'done' | 'failed'): void {
  try {
    const settling: unknown = claim?.[end]?.()
    if (settling instanceof Promise) settling.catch(() => undefined)
  } catch {
    // The guard reports what taps do; this is what a tap left behind.
  }
}

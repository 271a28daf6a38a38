import { pastTime } from '../stamps.ts'
import type { Rule } from '../types.ts'

/** From so many failed checks in a row on, a rule waits longer and longer for its next periodic one. */
export const FAILURES_BEFORE_BACKOFF = 3
const FIRST_MS = 5 * 60_000
const LONGEST_MS = 6 * 60 * 60_000

/** How long a rule waits after its last failed check: 5 minutes, doubling to 6 hours. */
export function backoffMs(failures: number): number {
  if (failures < FAILURES_BEFORE_BACKOFF) return 0
  return Math.min(FIRST_MS * 2 ** Math.min(failures - FAILURES_BEFORE_BACKOFF, 16), LONGEST_MS)
}

/** Whether the rule waits now. A failure in the future is none: the clock has been set back since. */
export function isBackedOff(rule: Rule, now = Date.now()): boolean {
  const failedAt = pastTime(rule.lastCheckFailedAt, now)
  return failedAt !== undefined && now - failedAt < backoffMs(rule.consecutiveFailures ?? 0)
}

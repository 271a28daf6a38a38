import type { Overflow, Trigger } from '@tapline/core'
import type { Finding } from './inbox.ts'
import type { Tallies } from './tallies.ts'

/** Writes what exceeded a limit, or had no turn before the session ended, as one line a period. */
export function recordOverflow(
  tallies: Tallies,
  trigger: Trigger,
  policy: string,
  { count, limit, since }: Overflow,
  finding: Finding,
): Promise<void> {
  const { server, method, summary } = trigger
  const textOf = (many: number): string => {
    const number = many.toLocaleString('en-US')
    const pushes = `${many === 1 ? 'push' : 'pushes'} of policy "${policy}"`
    const what =
      limit === undefined
        ? `${number} ${pushes} had no turn before the session ended`
        : `${number} more ${pushes} than ${limit} allow`
    return `${server}: ${what}; the newest: ${summary || method}`
  }
  return tallies.record(JSON.stringify([server, policy, limit, since]), count, textOf, finding)
}

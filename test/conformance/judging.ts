import type { Expectation } from './expectations.ts'
import type { Run } from './suite.ts'

/** What came of a scenario. Only `unexpected` is wrong. */
export interface Verdict {
  readonly kind: 'passed' | 'fails as expected' | 'unexpected'
  readonly notes: readonly string[]
}

const LONGEST_OUTPUT = 2_000

/** A scenario that checks nothing proves nothing, and one that is expected to fail and does not is news as well. */
export function judge(
  { passed, failed, output, succeeded }: Run,
  expected: Expectation | undefined,
): Verdict {
  const isExpected = ({ check }: Run['failed'][number]): boolean => expected?.checks?.includes(check) ?? true
  const notes = failed.map(({ check, why }) => `${check}: ${why}`)
  const said = output.trim().slice(-LONGEST_OUTPUT)
  if (passed + failed.length === 0) return { kind: 'unexpected', notes: ['nothing was checked', said] }
  if (expected === undefined) {
    if (succeeded && failed.length === 0) return { kind: 'passed', notes: [] }
    return { kind: 'unexpected', notes: failed.length > 0 ? notes : [said] }
  }
  if (failed.length === 0)
    return { kind: 'unexpected', notes: [`no longer fails, though it is expected to: ${expected.reason}`] }
  const surprising = failed.filter((check) => !isExpected(check))
  if (surprising.length > 0)
    return { kind: 'unexpected', notes: surprising.map(({ check, why }) => `${check}: ${why}`) }
  const fails = new Set(failed.map(({ check }) => check))
  const stale = (expected.checks ?? []).filter((check) => !fails.has(check))
  if (stale.length > 0)
    return { kind: 'unexpected', notes: stale.map((check) => `${check}: no longer fails`) }
  return { kind: 'fails as expected', notes: [expected.reason] }
}

import type { AgentOutcome } from '@tapline/core'
import type { CheckResult } from '../types.ts'
import type { Report } from './report.ts'
import type { Ending } from './runs.ts'

/** What a check means for its rules. */
export interface Verdict {
  readonly status: CheckResult['status']
  readonly error?: string
  /** A failed check counts for these: the longer they fail, the rarer they are polled. */
  readonly failed: readonly string[]
  /** For these the check did what it had to. */
  readonly succeeded: readonly string[]
  /** They matched, and whether their actions were carried out nobody knows. */
  readonly incomplete: readonly string[]
  /** Nobody said whether they match. */
  readonly unchecked: readonly string[]
  /** Whether it makes sense to check those once more. */
  readonly repeatable: boolean
}

const NO_REPORT = 'the model did not say which rules match (it never called report_matches)'

/**
 * Judges how a check ended. Where the sub-agent failed before it reported, that counts for every rule, since none was
 * judged; afterwards only for those whose actions were under way, or whose match could not be recorded. An abort counts
 * for none, and takes back nothing.
 */
export function verdictOf(
  ids: readonly string[],
  report: Pick<Report, 'made' | 'matched' | 'unrecorded' | 'obstacle'>,
  outcome: Pick<AgentOutcome, 'status' | 'error'>,
  ending: Ending | undefined,
): Verdict {
  const { made, matched } = report
  const { status } = outcome
  const none = { failed: [], succeeded: [], incomplete: [], unchecked: [], repeatable: false }
  const unchecked = made ? report.unrecorded : ids
  if (status === 'aborted' && ending !== undefined) {
    const error = ending === 'user' ? 'aborted' : 'the session ended'
    return { ...none, status: 'aborted', error, unchecked }
  }
  if (status === 'over_budget')
    return { ...none, status: 'aborted', error: "today's budget is spent", incomplete: matched, unchecked }
  const incomplete = status === 'completed' ? [] : matched
  const failed = [...unchecked, ...incomplete]
  // What was left to do once every rule was found not to match is of no interest.
  if (failed.length === 0) return { ...none, status: 'completed', succeeded: ids }
  const judged = {
    failed: status === 'aborted' ? [] : failed,
    succeeded: ids.filter((id) => !failed.includes(id)),
    incomplete,
    unchecked,
    repeatable: unchecked.length > 0,
  }
  // The actions of those that could be recorded were carried out.
  if (status === 'completed' && matched.length > 0) return { ...judged, status: 'completed' }
  const error = status === 'completed' ? (report.obstacle ?? NO_REPORT) : errorOf(status, outcome.error)
  return { ...judged, status: 'failed', error }
}

function errorOf(status: 'failed' | 'timeout' | 'aborted', error: string | undefined): string {
  if (error !== undefined && error !== '') return error
  return status === 'timeout'
    ? 'it took too long'
    : status === 'aborted'
      ? 'it was ended from outside'
      : 'it failed and did not say why'
}

import type { TaplineError } from '../errors.ts'
import type { Report } from './guard.ts'

const LIMIT = 3

/** Lets through the first few reports of each plugin, hook and code, and says which one is the last. */
export function limitReports(report: Report, limit: number = LIMIT): Report {
  const counts = new Map<string, number>()
  return (error: TaplineError) => {
    const key = `${error.place.plugin ?? ''}|${error.place.hook ?? ''}|${error.code}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count > limit) return
    if (count === limit) error.message += ' (Further reports of this kind are not shown.)'
    try {
      report(error)
    } catch {
      // A reporter that throws has nowhere to report to.
    }
  }
}

import { refuseContinuation } from './continuation.ts'
import { crontab, takeCrontab } from './crontab.ts'
import { interval, takeInterval } from './interval.ts'
import { moment, takeMoment } from './moment.ts'
import type { Schedule, Taken } from './schedule.ts'

export { MOST_COUNTED } from './schedule.ts'
export type { Schedule, Taken, Ticks } from './schedule.ts'

/** What may stand where a schedule is asked for. */
export const SCHEDULE_FORMS = '"*/5 * * * *", @daily, every 30m, in 10m, at 17:30, at 2026-12-01 09:00'

const QUOTED = /^(["'`])(.*?)\1(?=\s|$)/s

/**
 * The schedule at the beginning of what somebody typed, in quotes or without, and what follows it. Throws what was
 * expected when there is none.
 */
export function takeSchedule(text: string): Taken {
  const typed = text.trim()
  const [whole, , inner = ''] = QUOTED.exec(typed) ?? []
  if (whole !== undefined) {
    const { schedule, rest } = takeSchedule(inner)
    if (rest !== '')
      throw new Error(`"${inner}" is more than a schedule: "${rest}" belongs behind the quotes.`)
    return { schedule, rest: typed.slice(whole.length).trim() }
  }
  const found = takeInterval(typed) ?? takeMoment(typed) ?? takeCrontab(typed)
  if (found) {
    refuseContinuation(found)
    return found
  }
  const [word = ''] = /^\S*/.exec(typed) ?? []
  // Throws what is wrong after the word.
  if (/^(?:every|in)$/i.test(word)) interval(firstWords(typed, 2), 0)
  if (/^at$/i.test(word)) moment(firstWords(typed, 2), 0)
  if (/^[\d*@]/.test(word)) crontab(word.startsWith('@') ? word : firstWords(typed, 5))
  throw new Error(`A schedule is expected first: ${SCHEDULE_FORMS}.`)
}

/** What a schedule means for a job that counts from `anchor`, in milliseconds since the epoch. Throws what is wrong. */
export function scheduleOf(text: string, anchor: number): Schedule {
  if (/^(?:every|in)\b/i.test(text)) return interval(text, anchor)
  return /^at\b/i.test(text) ? moment(text, anchor) : crontab(text)
}

function firstWords(text: string, count: number): string {
  return text.split(/\s+/).slice(0, count).join(' ')
}

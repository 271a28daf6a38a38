import { type Schedule, single, taken, type Taken } from './schedule.ts'

const DATE = String.raw`\d{4}-\d{2}-\d{2}(?:T|\s+)\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?`
const DAY = '(?:today|tomorrow)'
const TIME = String.raw`(?:${DAY}\s+)?\d{1,2}:\d{2}(?:\s+${DAY})?`
const AT_THE_BEGINNING = new RegExp(String.raw`^at\s+(?:${DATE}|${TIME})(?=\s|$)`, 'i')
const WHOLE_DATE =
  /^at\s+(\d{4})-(\d{2})-(\d{2})(?:T|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+-]\d{2}:?\d{2})?$/i
const WHOLE_TIME = /^at\s+(?:(today|tomorrow)\s+)?(\d{1,2}):(\d{2})(?:\s+(today|tomorrow))?$/i

/** `at 17:30` or `at 2026-12-01 09:00` at the beginning of a text. */
export function takeMoment(text: string): Taken | undefined {
  return taken(text, AT_THE_BEGINNING)
}

/**
 * `at <HH:MM>` (the next one after `anchor`; or `today`, `tomorrow`) and `at <ISO date and time>`, once. Without an
 * offset it is local time; a time that the clocks skip is an hour later. Throws what is wrong.
 */
export function moment(text: string, anchor: number): Schedule {
  const at = dateAndTime(text) ?? timeOfDay(text, anchor)
  if (at === undefined)
    throw new Error(`"${text}" needs a time such as 17:30, tomorrow 9:00 or 2026-12-01 09:00.`)
  return single(at)
}

function dateAndTime(text: string): number | undefined {
  const found = WHOLE_DATE.exec(text)
  if (!found) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const millisecond = Number((found[7] ?? '0').padEnd(3, '0'))
  const zone = found[8]?.toUpperCase()
  if (month < 1 || month > 12 || day < 1 || day > new Date(year, month, 0).getDate())
    throw new Error(`"${text}": there is no such day.`)
  refuseTime(text, hour, minute, second)
  if (zone === undefined) return new Date(year, month - 1, day, hour, minute, second, millisecond).getTime()
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d{2}):?(\d{2})/.exec(zone) ?? []
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - offset * 60_000
}

function timeOfDay(text: string, anchor: number): number | undefined {
  const found = WHOLE_TIME.exec(text)
  if (!found) return undefined
  const [hour, minute] = [Number(found[2]), Number(found[3])]
  refuseTime(text, hour, minute, 0)
  const day = (found[1] ?? found[4])?.toLowerCase()
  const on = (days: number): number => {
    const { year, month, date } = partsOf(anchor)
    return new Date(year, month, date + days, hour, minute).getTime()
  }
  if (day === 'tomorrow') return on(1)
  return day === 'today' || on(0) > anchor ? on(0) : on(1)
}

function partsOf(time: number): { year: number; month: number; date: number } {
  const local = new Date(time)
  return { year: local.getFullYear(), month: local.getMonth(), date: local.getDate() }
}

function refuseTime(text: string, hour: number, minute: number, second: number): void {
  if (hour > 23 || minute > 59 || second > 59) throw new Error(`"${text}": there is no such time of day.`)
}

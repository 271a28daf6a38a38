import type { Taken } from './schedule.ts'

const WEEKDAY = String.raw`(?:mon|tue|wed|thu|fri|sat|sun)\w*`
const AT_A_TIME = String.raw`at\s+:?\d\S*`

/** What people write on after a schedule and mean as part of it, though no schedule has it. */
const CONTINUATIONS: readonly { readonly of: RegExp; readonly by: RegExp }[] = [
  { of: /^in\s/i, by: new RegExp(`^${AT_A_TIME}`, 'i') },
  {
    of: /^(?:every\s|@)/i,
    by: new RegExp(
      String.raw`^(?:${AT_A_TIME}|\d{1,2}:\d{2}\S*|on\s+(?:${WEEKDAY}|\d\S*|the\s+(?:\d|first|last)\S*))`,
      'i',
    ),
  },
  {
    of: /^at\s/i,
    by: new RegExp(
      String.raw`^(?:[ap]\.?m\b\.?|[+-]\d{1,2}:?\d{2}(?=\s|$)|(?:utc|gmt|daily)\b|every\s+(?:\w*day|week|month)\b|on\s+${WEEKDAY})`,
      'i',
    ),
  },
]

/** Throws where what follows a schedule reads as a part of it: the job would come at another time than was meant. */
export function refuseContinuation({ schedule, rest }: Taken): void {
  for (const { of, by } of CONTINUATIONS) {
    const [words] = (of.test(schedule) && by.exec(rest)) || []
    if (words === undefined) continue
    throw new Error(
      `"${schedule} ${words}" is not understood: what comes again at a time of day is five fields, such as "0 9 * * *"; ` +
        `what comes once is "at tomorrow 9:00" or "at 2026-12-01T09:00+01:00". ` +
        `If "${words}" is the beginning of the text, put the schedule in quotes: "${schedule}" ${words} …`,
    )
  }
}

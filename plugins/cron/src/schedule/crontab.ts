import { createRequire } from 'node:module'
import type { Cron } from 'croner'
import { MOST_COUNTED, type Schedule, taken, type Taken } from './schedule.ts'

const NICKNAMES = ['yearly', 'annually', 'monthly', 'weekly', 'daily', 'midnight', 'hourly']
const NICKNAME = new RegExp(`^@?(?:${NICKNAMES.join('|')})(?=\\s|$)`, 'i')
/** Five fields, of which the first is no word. */
const FIELDS = /^[\d*?/,-]+(?:\s+[\w*?/,#-]+){4}(?=\s|$)/

/** `0 9 * * mon-fri` or `@daily` at the beginning of a text; the `@` may be left out. */
export function takeCrontab(text: string): Taken | undefined {
  const nickname = taken(text, NICKNAME)
  if (nickname) return { ...nickname, schedule: `@${nickname.schedule.replace('@', '').toLowerCase()}` }
  const fields = taken(text, FIELDS)
  // A sixth field would become the first word of the text.
  if (fields && /^[\d/,-]*\*[\d/,-]*(?=\s|$)/.test(fields.rest))
    throw new Error(
      `"${fields.schedule} …" has more than five fields: minute, hour, day, month, day of the week.`,
    )
  return fields
}

/** A cron expression of five fields, or a nickname, in local time. Throws what is wrong. */
export function crontab(text: string): Schedule {
  const pattern = text.startsWith('@') ? text.toLowerCase() : text
  if (pattern.startsWith('@') && !NICKNAME.test(pattern))
    throw new Error(`"${text}" is none of ${NICKNAMES.map((name) => `@${name}`).join(', ')}.`)
  if (!pattern.startsWith('@') && pattern.split(/\s+/).length !== 5)
    throw new Error(`"${text}" does not have the five fields: minute, hour, day, month, day of the week.`)
  // Most people schedule nothing, or nothing by fields.
  const croner = createRequire(import.meta.url)('croner') as typeof import('croner')
  let cron: Cron
  try {
    cron = new croner.Cron(pattern, { mode: '5-part' })
  } catch (thrown) {
    const reason = (thrown as Error).message.replace(/^CronPattern: /, '').replace(/\.?$/, '.')
    throw new Error(`"${text}" is no cron expression: ${reason}`, { cause: thrown })
  }
  const next = (after: number): number | undefined => cron.nextRun(new Date(after))?.getTime()
  return {
    once: false,
    next,
    ticks: (after, until) => {
      const first = next(after)
      if (first === undefined || first > until) return undefined
      let last = first
      for (let count = 1; count < MOST_COUNTED; count++) {
        const further = next(last)
        if (further === undefined || further > until) return { first, last, count }
        last = further
      }
      // Only ticks before the reference are previous ones.
      const [latest] = cron.previousRuns(1, new Date(until + 1))
      return { first, last: Math.max(last, latest?.getTime() ?? last), count: MOST_COUNTED }
    },
  }
}

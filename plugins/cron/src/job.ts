import { randomUUID } from 'node:crypto'

/** A job as it stands in the file. Times are RFC 3339 in UTC. */
export interface CronJob {
  /** `job-` and eight hexadecimal digits. */
  readonly id: string
  readonly name?: string
  /** As it was typed: `every 30m`, `0 9 * * 1-5`, `in 10m`, `at 17:30`. */
  readonly schedule: string
  /** The person's own words. */
  readonly text: string
  /** A push policy: `run`, `summary`, `inbox`, `rules`, `log` or the name of any other sink. */
  readonly deliver: string
  /** The project it belongs to, absolute. */
  readonly cwd: string
  readonly enabled: boolean
  readonly createdAt: string
  /** When it was added or last enabled: ticks count from here. */
  readonly enabledAt: string
  /** The last tick that became an event. */
  readonly lastDueAt?: string
  readonly lastRunAt?: string
  /** How many events it has become. */
  readonly runs: number
  /** The tick that went to the inbox because nobody had the project open; later ones wait for somebody. */
  readonly awaySince?: string
}

/** What changes of a job when it becomes an event. */
export type Turn = Pick<CronJob, 'enabled' | 'lastDueAt' | 'lastRunAt' | 'runs' | 'awaySince'>

/** What a new job is made of. */
export interface NewJob {
  readonly name?: string
  readonly schedule: string
  readonly text: string
  /** `run` when absent. */
  readonly deliver?: string
  /** The session's project when absent. */
  readonly cwd?: string
}

/** A longer text, which somebody may write into the file, is cut. */
export const LONGEST_TEXT = 8_192
const LONGEST_NAME = 60

/** A job that begins now. Throws what is wrong with its words. */
export function newJob({ name, schedule, text, deliver = 'run' }: NewJob, cwd: string, now: number): CronJob {
  const at = timestamp(now)
  if (text.trim() === '') throw new Error('A job needs a text: what is to be done or said when it is due.')
  if (text.length > LONGEST_TEXT) throw new Error(`A job's text has at most ${LONGEST_TEXT} characters.`)
  if (
    name !== undefined &&
    (name.trim() === '' || name.length > LONGEST_NAME || /^\d+$|^job-|[\p{Cc}\p{Cf}]/u.test(name))
  )
    throw new Error(
      `A job's name has 1 to ${LONGEST_NAME} characters on one line, is no number and does not begin with "job-".`,
    )
  return {
    id: `job-${randomUUID().slice(0, 8)}`,
    ...(name === undefined ? {} : { name: name.trim() }),
    schedule,
    text: text.trim(),
    deliver,
    cwd,
    enabled: true,
    createdAt: at,
    enabledAt: at,
    runs: 0,
  }
}

/** Whether an entry of the file is a job that can be worked with. */
export function isJob(value: unknown): value is CronJob {
  if (typeof value !== 'object' || value === null) return false
  const { id, name, schedule, text, deliver, cwd, enabled, runs, ...times } = value as Record<string, unknown>
  return (
    [id, schedule, text, deliver, cwd].every((field) => typeof field === 'string' && field !== '') &&
    (name === undefined || typeof name === 'string') &&
    typeof enabled === 'boolean' &&
    Number.isSafeInteger(runs) &&
    [times.createdAt, times.enabledAt].every(isTime) &&
    [times.lastDueAt, times.lastRunAt, times.awaySince].every((time) => time === undefined || isTime(time))
  )
}

/** A job with another turn; what else it holds is kept. */
export function withTurn(job: CronJob, { enabled, lastDueAt, lastRunAt, runs, awaySince }: Turn): CronJob {
  const { lastDueAt: _due, lastRunAt: _run, awaySince: _away, ...rest } = job
  return {
    ...rest,
    enabled,
    runs,
    ...(lastDueAt === undefined ? {} : { lastDueAt }),
    ...(lastRunAt === undefined ? {} : { lastRunAt }),
    ...(awaySince === undefined ? {} : { awaySince }),
  }
}

/** Whether nothing that decides when a job is due differs. */
export function isSameTurn(a: CronJob, b: CronJob): boolean {
  return (
    a.enabled === b.enabled &&
    a.lastDueAt === b.lastDueAt &&
    a.enabledAt === b.enabledAt &&
    a.schedule === b.schedule
  )
}

/** A time as it stands in the file. */
export function timestamp(time: number): string {
  return new Date(time).toISOString()
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

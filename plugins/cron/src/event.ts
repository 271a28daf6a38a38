import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { Trigger } from '@tapline/core'
import { type CronJob, LONGEST_TEXT } from './job.ts'
import { MOST_COUNTED, type Ticks } from './schedule/index.ts'
import { cleanWords, localTime, oneLine } from './text.ts'

const LONGEST_SUMMARY = 200
const LONGEST_NOTE = 120
/** A tick that is handled within this time was not missed. */
const ON_TIME_MS = 60_000

/** The source and the server of every event that comes from here. */
export const CRON = 'cron'

/** What an event stands for. */
export interface Occasion {
  readonly now: number
  /** Absent when somebody asked for it out of turn. */
  readonly ticks?: Ticks
  /** Nobody has the job's project open. */
  readonly away?: boolean
}

/** The event that a job becomes. */
export function eventOf(job: CronJob, { now, ticks, away = false }: Occasion): Trigger {
  const { id, name, schedule, cwd, deliver } = job
  const text = job.text.slice(0, LONGEST_TEXT)
  const note = [missed(ticks, now), away ? `no pi is open in ${oneLine(basename(cwd) || cwd, 40)}` : '']
    .filter(Boolean)
    .join('; ')
  const said = note === '' ? '' : ` [${oneLine(note, LONGEST_NOTE)}]`
  return {
    kind: 'trigger',
    traceId: randomUUID(),
    source: CRON,
    server: CRON,
    method: oneLine(name ?? id, 100),
    key: `cron:${id}:${ticks ? ticks.last : `run-${randomUUID()}`}`,
    replacement: 'drop',
    policy: away ? 'inbox' : deliver,
    cwd,
    summary: `${oneLine(text, LONGEST_SUMMARY - said.length)}${said}`,
    content: cleanWords(text),
    attributes: {
      job: id,
      schedule: oneLine(schedule, 100),
      ...(ticks ? { due: new Date(ticks.last).toISOString() } : {}),
      ...(note === '' ? {} : { note }),
    },
    receivedAt: now,
  }
}

/** Something that a person should know about the jobs themselves. It has no content, by which it is told apart. */
export function noticeOf(text: string, now: number, policy: string): Trigger {
  return {
    kind: 'trigger',
    traceId: randomUUID(),
    source: CRON,
    server: CRON,
    method: CRON,
    key: `cron:notice:${randomUUID()}`,
    replacement: 'drop',
    policy,
    summary: oneLine(text, LONGEST_SUMMARY),
    receivedAt: now,
  }
}

function missed(ticks: Ticks | undefined, now: number): string {
  if (!ticks) return ''
  const onTime = now - ticks.last < ON_TIME_MS
  const count = ticks.count - (onTime ? 1 : 0)
  if (count === 0) return ''
  const counted = ticks.count < MOST_COUNTED ? count : `${MOST_COUNTED} or more`
  return `${counted} ${count === 1 ? 'tick' : 'ticks'} missed since ${localTime(ticks.first)}`
}

import { randomUUID } from 'node:crypto'
import type { Host } from '@tapline/core'
import type { Clock } from './clock.ts'
import { CRON, eventOf } from './event.ts'
import type { JobFile } from './job-file.ts'
import { type CronJob, newJob, type NewJob, timestamp } from './job.ts'
import { isOwn, placeOf } from './place.ts'
import { scheduleOf } from './schedule/index.ts'
import { oneLine } from './text.ts'

/** What the source is doing, for lists of sources. */
export interface CronStatus {
  /** `standby`: another window fires what is due. `disabled`: nothing is delivered in this run. */
  readonly state: 'connected' | 'standby' | 'disabled'
  /** `local crontab: 3 job(s), 2 enabled`: those of all projects. */
  readonly label: string
  /** What is wrong now, in sentences. */
  readonly problems: readonly string[]
}

/** Scheduled jobs, as commands see them. Everything is rejected with a sentence when it cannot be done. */
export interface Cron {
  /** All jobs of this machine, in the order in which they were added. Throws when the file cannot be read. */
  list(): readonly CronJob[]
  /** Those of this session's project. */
  own(): readonly CronJob[]
  add(job: NewJob): Promise<CronJob>
  /** Answers the job that is gone; undefined when there was none. */
  remove(id: string): Promise<CronJob | undefined>
  /** A job that is enabled counts from now: what it has missed is forgotten. */
  setEnabled(id: string, enabled: boolean): Promise<CronJob | undefined>
  /** Makes an event of it now, out of turn. Only for jobs of this session's project. */
  run(id: string): Promise<CronJob | undefined>
  /** The next ticks of a job, fewer when there are no more. Throws what is wrong with its schedule. */
  next(job: CronJob, count: number): readonly Date[]
  status(): CronStatus
}

/** What {@link createCron} takes. */
export interface CronServiceOptions {
  readonly host: Host
  readonly file: JobFile
  readonly clock: Clock
  problems(): readonly string[]
  /** Called when jobs have changed; resolves when what is due has been seen to. */
  onChange(): Promise<void>
}

/** The service over the file. */
export function createCron({ host, file, clock, problems, onChange }: CronServiceOptions): Cron {
  const next = (job: CronJob, count: number): readonly Date[] => {
    const schedule = scheduleOf(job.schedule, Date.parse(job.enabledAt))
    const ticks: Date[] = []
    for (
      let at = schedule.next(clock.now());
      at !== undefined && ticks.length < count;
      at = schedule.next(at)
    )
      ticks.push(new Date(at))
    return ticks
  }
  const changed = async (job: CronJob | undefined, state: string): Promise<CronJob | undefined> => {
    if (!job) return undefined
    const { id, name = id, text, schedule, deliver, cwd } = job
    host.audit?.({
      type: 'cron_control_plane',
      traceId: randomUUID(),
      cwd,
      state,
      sourceLabel: CRON,
      eventLabel: name,
      summary: oneLine(text, 200),
      details: { id, schedule, deliver },
    })
    await onChange()
    return job
  }
  const refuseOver = (job: CronJob): void => {
    if (next(job, 1).length === 0) throw new Error(`"${job.schedule}" never comes, or is over.`)
  }
  return {
    list: () => file.list(),
    own: () => file.list().filter((job) => isOwn(job, host)),
    add: async (wanted) => {
      const job = newJob(wanted, wanted.cwd ?? host.paths.cwd, clock.now())
      refuseOver(job)
      await file.add(job)
      await changed(job, 'added')
      return job
    },
    remove: async (id) => changed(await file.alter(id, () => 'removed'), 'removed'),
    setEnabled: async (id, enabled) => {
      const altered = await file.alter(id, (job) => {
        if (job.enabled === enabled) return job
        if (!enabled) return { ...job, enabled }
        const { lastDueAt: _due, awaySince: _away, ...rest } = job
        const anew = { ...rest, enabled, enabledAt: timestamp(clock.now()) }
        refuseOver(anew)
        return anew
      })
      return altered
        ? changed(altered, enabled ? 'enabled' : 'disabled')
        : file.list().find((job) => job.id === id)
    },
    run: async (id) => {
      const found = file.list().find((job) => job.id === id)
      if (!found) return undefined
      if (!isOwn(found, host))
        throw new Error(`It belongs to ${found.cwd}: run it in a pi that is open there.`)
      if (!host.delivers || !host.admit) throw new Error('Nothing is delivered in this run.')
      const now = clock.now()
      const job = await file.alter(id, (stored) => ({
        ...stored,
        lastRunAt: timestamp(now),
        runs: stored.runs + 1,
      }))
      if (job) host.admit(eventOf(job, { now }))
      return changed(job, 'run')
    },
    next,
    status: () => {
      const jobs = listOrNone(file)
      const enabled = jobs.filter((job) => job.enabled)
      return {
        state: stateOf(host, enabled),
        label: `local crontab: ${jobs.length} job(s), ${enabled.length} enabled`,
        problems: problems(),
      }
    },
  }
}

function stateOf(host: Host, enabled: readonly CronJob[]): CronStatus['state'] {
  if (!host.delivers || !host.admit) return 'disabled'
  const { windows } = host
  const fires =
    !windows || windows.isSelf(windows.leader()) || enabled.some((job) => placeOf(job, host) !== 'elsewhere')
  return fires ? 'connected' : 'standby'
}

/** The look at the file says what is wrong with it. */
function listOrNone(file: JobFile): readonly CronJob[] {
  try {
    return file.list()
  } catch {
    return []
  }
}

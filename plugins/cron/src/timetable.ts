import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { Host, TriggerEvent } from '@tapline/core'
import type { Clock } from './clock.ts'
import { CRON, eventOf } from './event.ts'
import { JOB_FILE, type JobFile } from './job-file.ts'
import { type CronJob, isSameTurn, timestamp, withTurn } from './job.ts'
import { placeOf } from './place.ts'
import { type Schedule, scheduleOf } from './schedule/index.ts'

/** How often the file, the clock and who is there are looked at when nothing else calls for it. */
const LOOK_MS = 30_000
/** Several changes of the file in a row are one. */
const SETTLE_MS = 50
/** Times that are later than now by more than this were written before the clock was put right. */
const FUTURE_MS = 60_000

/** What {@link Timetable} takes. */
export interface TimetableOptions {
  readonly host: Host
  readonly file: JobFile
  readonly clock: Clock
  /** Told, after each look, what is wrong. */
  onProblems(problems: readonly string[]): void
}

/** Makes events of jobs when they are due, each tick once on this machine. */
export class Timetable {
  readonly #options: TimetableOptions
  /** What is on its way: the job as it was before, by the event's trace id. */
  readonly #underWay = new Map<string, { readonly before: CronJob; readonly after: CronJob }>()
  /** Why a tick could not become an event, and when that was tried: writing the file calls for another look. */
  readonly #failed = new Map<string, { readonly at: number; readonly error: unknown }>()
  #watcher: FSWatcher | undefined
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined
  #again = false
  #returning: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: TimetableOptions) {
    this.#options = options
  }

  start(): void {
    this.#wakeIn(0)
  }

  /** Looks for what is due, makes events of it and sees to it that the next look comes in time. */
  look(): Promise<void> {
    if (this.#looking) {
      this.#again = true
      return this.#looking
    }
    this.#looking = this.#lookUntilSettled()
    return this.#looking
  }

  /** What became of an event. What was lost because the session ended is due again, for whoever looks next. */
  settled({ server, traceId, state, reason }: TriggerEvent): void {
    if (server !== CRON || state === 'received' || state === 'pending') return
    const { before, after } = this.#underWay.get(traceId) ?? {}
    this.#underWay.delete(traceId)
    if (!before || !after || state !== 'dropped' || reason !== 'the session ended') return
    this.#returning = Promise.allSettled([this.#returning, this.#giveBack(before, after)])
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    this.#watcher?.close()
    await this.#looking
    await this.#returning
  }

  async #lookUntilSettled(): Promise<void> {
    try {
      do {
        this.#again = false
        await this.#lookOnce()
      } while (this.#again && !this.#stopped)
    } finally {
      // At once: whoever asks for a look from now on must begin one.
      this.#looking = undefined
    }
  }

  async #lookOnce(): Promise<void> {
    if (this.#stopped) return
    const { clock, file, onProblems } = this.#options
    this.#cancel?.()
    this.#watch()
    const problems: string[] = []
    let soonest = Number.POSITIVE_INFINITY
    try {
      const { jobs, problems: found } = file.read()
      problems.push(...found)
      for (const job of jobs.filter(({ enabled }) => enabled)) {
        try {
          soonest = Math.min(soonest, (await this.#see(job)) ?? Number.POSITIVE_INFINITY)
        } catch (thrown) {
          problems.push(`Job ${job.name ?? job.id} cannot run: ${(thrown as Error).message}`)
        }
      }
    } catch (thrown) {
      problems.push(`${file.path} could not be read: ${(thrown as Error).message}`)
    }
    if (this.#stopped) return
    this.#wakeIn(Math.min(LOOK_MS, soonest - clock.now()))
    onProblems(problems)
  }

  /** Answers the job's next tick. */
  async #see(job: CronJob): Promise<number | undefined> {
    const { clock, file } = this.#options
    const now = clock.now()
    if (isFuture(job, now)) await file.alter(job.id, (stored) => withoutFuture(stored, clock.now()))
    const current = withoutFuture(job, now)
    const schedule = scheduleOf(current.schedule, Date.parse(current.enabledAt))
    const since = Math.max(...[current.enabledAt, current.lastDueAt ?? current.enabledAt].map(Date.parse))
    if ((schedule.next(since) ?? Number.POSITIVE_INFINITY) <= now)
      await this.#tryToFire(current, schedule, since)
    return schedule.next(clock.now())
  }

  async #tryToFire(job: CronJob, schedule: Schedule, since: number): Promise<void> {
    const now = this.#options.clock.now()
    const failed = this.#failed.get(job.id)
    if (failed && now >= failed.at && now < failed.at + LOOK_MS) throw failed.error
    try {
      await this.#fire(job, schedule, since)
      this.#failed.delete(job.id)
    } catch (error) {
      this.#failed.set(job.id, { at: now, error })
      throw error
    }
  }

  async #fire(job: CronJob, schedule: Schedule, since: number): Promise<void> {
    const { clock, file, host } = this.#options
    const place = placeOf(job, host)
    const away = place === 'inbox'
    if (place === 'elsewhere' || (away && job.awaySince !== undefined) || this.#stopped) return
    const now = clock.now()
    const ticks = schedule.ticks(since, now)
    if (!ticks) return
    const due = timestamp(ticks.last)
    // Whoever writes the tick first has it; everybody else finds it written.
    const claimed = await file.alter(job.id, (stored) =>
      isSameTurn(stored, job)
        ? withTurn(stored, {
            enabled: !schedule.once,
            lastDueAt: due,
            lastRunAt: timestamp(now),
            runs: stored.runs + 1,
            ...(away && !schedule.once ? { awaySince: due } : {}),
          })
        : stored,
    )
    if (!claimed) return
    const event = eventOf(claimed, { now, ticks, away })
    this.#underWay.set(event.traceId, { before: job, after: claimed })
    try {
      host.admit?.(event)
    } catch (thrown) {
      this.#underWay.delete(event.traceId)
      await this.#giveBack(job, claimed)
      throw thrown
    }
  }

  async #giveBack(before: CronJob, after: CronJob): Promise<void> {
    await this.#options.file.alter(before.id, (job) => (isSameTurn(job, after) ? withTurn(job, before) : job))
  }

  #wakeIn(ms: number): void {
    this.#cancel?.()
    this.#cancel = this.#options.clock.wake(Math.max(ms, 0), () => this.look())
  }

  #watch(): void {
    if (this.#watcher) return
    try {
      this.#watcher = watch(dirname(this.#options.file.path), { persistent: false }, (_event, name) => {
        if (this.#stopped || (name !== null && name !== JOB_FILE)) return
        if (this.#looking) this.#again = true
        else this.#wakeIn(SETTLE_MS)
      })
      this.#watcher.on('error', () => {
        this.#watcher?.close()
        this.#watcher = undefined
      })
    } catch {
      // There is no directory yet, or the system has no watchers left: each look tries again.
    }
  }
}

function isFuture({ enabledAt, lastDueAt }: CronJob, now: number): boolean {
  return [enabledAt, lastDueAt].some((time) => time !== undefined && Date.parse(time) > now + FUTURE_MS)
}

/** A job that counts from now where it would count from a time that the clock has not reached. */
function withoutFuture(job: CronJob, now: number): CronJob {
  if (!isFuture(job, now)) return job
  const at = timestamp(now)
  const { enabledAt, lastDueAt } = job
  return {
    ...job,
    enabledAt: Date.parse(enabledAt) > now + FUTURE_MS ? at : enabledAt,
    ...(lastDueAt === undefined
      ? {}
      : { lastDueAt: Date.parse(lastDueAt) > now + FUTURE_MS ? at : lastDueAt }),
  }
}

import type { Plugin } from '@tapline/core'
import { type Clock, systemClock } from './clock.ts'
import { noticeOf } from './event.ts'
import { JobFile } from './job-file.ts'
import { type Cron, createCron } from './service.ts'
import { Timetable } from './timetable.ts'

/** Options of {@link cron}. */
export interface CronOptions {
  /** Given the jobs when they can be worked with. */
  onReady?(cron: Cron): void
  /** Time, for tests. */
  readonly clock?: Clock
}

/** A source that is no MCP server: jobs that become events when their time comes. */
export const cron = ({ onReady, clock = systemClock }: CronOptions = {}): Plugin => ({
  name: 'cron',
  api: 1,
  setup({ hooks, host, log }) {
    const told = new Set<string>()
    let problems: readonly string[] = []
    const tell = (message: string): void => {
      if (told.has(message)) return
      told.add(message)
      log.warn(message)
      try {
        host.admit?.(noticeOf(message, clock.now(), host.chat ? 'summary' : 'log'))
      } catch {
        // Lists of sources still say it.
      }
    }
    const file = new JobFile({
      files: host.files,
      loopsDir: host.paths.loopsDir,
      onSetAside: (path, keptAs) => tell(`${path} could not be read and was set aside as ${keptAs}.`),
    })
    const timetable = new Timetable({
      host,
      file,
      clock,
      onProblems: (found) => {
        problems = found
        for (const problem of found) tell(problem)
      },
    })
    const active = host.delivers && host.admit !== undefined
    onReady?.(
      createCron({
        host,
        file,
        clock,
        problems: () => problems,
        onChange: () => (active ? timetable.look() : Promise.resolve()),
      }),
    )
    if (!active) return
    hooks.deliver.observe((event) => {
      timetable.settled(event)
      return undefined
    })
    timetable.start()
    return () => timetable.stop()
  },
})

export type { Clock } from './clock.ts'
export type { CronJob, NewJob } from './job.ts'
export { JOB_FILE } from './job-file.ts'
export { SCHEDULE_FORMS, takeSchedule } from './schedule/index.ts'
export type { Cron, CronStatus } from './service.ts'
export { localTime } from './text.ts'

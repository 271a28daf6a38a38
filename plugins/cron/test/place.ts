import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host, Trigger, WindowRecord, Windows } from '@tapline/core'
import { testKernel, type TestKernel } from '@tapline/core/testing'
import { type Clock, type Cron, cron, type CronJob, JOB_FILE } from '../src/index.ts'

/** A clock that goes when it is told to. */
export interface ManualClock extends Clock {
  /** Goes on and wakes whoever is due, in order, each when the one before has finished. */
  goTo(time: number | string): Promise<void>
  /** Another time at once, as when the machine slept or the clock was set: what was due meanwhile is due now. */
  jumpTo(time: number | string): Promise<void>
}

/** A directory of state with windows on it. */
export interface Place {
  readonly loopsDir: string
  readonly clock: ManualClock
  /** Opens a window; `others` are the projects of windows that come before it when an owner is asked for. */
  open(options?: WindowOptions): Promise<Opened>
  jobs(): CronJob[]
  write(content: unknown): void
  close(): Promise<void>
}

export interface WindowOptions {
  readonly cwd?: string
  readonly kind?: WindowRecord['kind']
  readonly host?: Partial<Host>
  /** What this window knows of the others; `self` alone when absent. */
  readonly windows?: Partial<WindowRecord>[]
}

export interface Opened extends TestKernel {
  readonly cron: Cron
  readonly events: Trigger[]
}

export const NOON = Date.parse('2026-11-30T12:00:00Z')

export function createPlace(start: number = NOON): Place {
  const loopsDir = mkdtempSync(join(tmpdir(), 'cron-'))
  const clock = manualClock(start)
  const opened: TestKernel[] = []
  const path = join(loopsDir, JOB_FILE)
  return {
    loopsDir,
    clock,
    async open({ cwd = '/project', kind = 'interactive', host = {}, windows = [] } = {}) {
      const events: Trigger[] = []
      let service: Cron | undefined
      const plugin = cron({ clock, onReady: (ready) => (service = ready) })
      const self = record({ cwd, kind, pid: 100 + opened.length })
      const all = [self, ...windows.map(record)].toSorted((a, b) => a.pid - b.pid)
      const kernel = await testKernel(plugin, {
        host: {
          paths: { cwd, home: '/home', agentDir: '/nowhere', loopsDir },
          admit: (trigger) => void events.push(trigger),
          windows: windowsOf(self, all),
          ...host,
        },
      })
      opened.push(kernel)
      await clock.goTo(clock.now())
      return { ...kernel, cron: service as Cron, events }
    },
    jobs: () => (JSON.parse(readFileSync(path, 'utf8')) as { jobs: CronJob[] }).jobs,
    write: (content) =>
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2)),
    async close() {
      for (const kernel of opened) await kernel.dispose()
      rmSync(loopsDir, { recursive: true, force: true })
    },
  }
}

function record(given: Partial<WindowRecord>): WindowRecord {
  const { pid = 1, cwd = '/project', kind = 'interactive' } = given
  return { pid, instance: `i${pid}`, cwd, kind, heartbeatAt: new Date().toISOString(), ...given }
}

function windowsOf(self: WindowRecord, all: readonly WindowRecord[]): Windows {
  const inside = (a: string, b: string): boolean => b === a || b.startsWith(`${a}/`)
  const leader = (): WindowRecord =>
    all.find(({ kind }) => kind === 'interactive') ?? (all[0] as WindowRecord)
  return {
    self,
    list: () => all,
    leader,
    ownerOf: (cwd) => all.find((one) => one.kind === 'interactive' && inside(cwd, one.cwd)) ?? leader(),
    isSelf: (other) => other.instance === self.instance,
  }
}

function manualClock(start: number): ManualClock {
  let now = start
  const waiting = new Set<{ readonly at: number; readonly work: () => Promise<void> }>()
  /** All that are due are woken together, as windows of one machine are. */
  const wake = async (isDue: (at: number) => boolean): Promise<void> => {
    for (let due = [...waiting].filter(({ at }) => isDue(at)); due.length > 0;) {
      for (const one of due) waiting.delete(one)
      await Promise.all(due.map(({ work }) => work()))
      due = [...waiting].filter(({ at }) => at <= now)
    }
  }
  return {
    now: () => now,
    wake: (ms, work) => {
      const one = { at: now + ms, work }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    async jumpTo(time) {
      now = typeof time === 'number' ? time : Date.parse(time)
      await wake(() => true)
    },
    async goTo(time) {
      const until = typeof time === 'number' ? time : Date.parse(time)
      for (;;) {
        const next = Math.min(...[...waiting].map(({ at }) => at))
        if (next > until) break
        now = Math.max(now, next)
        await wake((at) => at <= now)
      }
      now = Math.max(now, until)
    },
  }
}

import type { ServerProcess } from './process.ts'
import { keeper } from './reaper.ts'
import { groupExists, groupRuns, signalGroup } from './signals.ts'
import { within } from './within.ts'

/** How long each step of a stop may take, in milliseconds. */
export interface StopTimes {
  /** From the end of standard input to SIGTERM. */
  readonly endGraceMs: number
  /** From SIGTERM to SIGKILL. */
  readonly termGraceMs: number
  /** From SIGKILL until the group is left to the reaper: only a process stuck in the kernel gets here. */
  readonly killGraceMs: number
}

const FIRST_POLL_MS = 10
const SLOWEST_POLL_MS = 100
const LINGER_MS = 1_000

/** A server with everything it started, as one thing that can be ended. */
export class ProcessGroup {
  /** Resolves when the direct child has ended. The others may live on. */
  readonly leaderExited: Promise<void>
  readonly #child: ServerProcess
  readonly #id: number
  readonly #times: StopTimes
  #leaderGone = false
  #gone = false
  #forced = false
  #stopping: Promise<void> | undefined

  constructor(child: ServerProcess, id: number, times: StopTimes) {
    this.#child = child
    this.#id = id
    this.#times = times
    keeper().watch(id)
    this.leaderExited = new Promise((resolve) => {
      const exited = (): void => {
        this.#leaderGone = true
        this.gone()
        resolve()
      }
      child.once('exit', exited)
      // cross-spawn on Windows tells of a missing command in place of the exit of its shell.
      child.once('error', exited)
    })
  }

  /** Whether every process has ended. The first yes is final: after it the number may belong to others. */
  gone(): boolean {
    if (!this.#gone && this.#leaderGone && !groupExists(this.#id)) {
      this.#gone = true
      keeper().forget(this.#id)
    }
    return this.#gone
  }

  /** Whether signals were sent: an exit after that explains nothing. */
  get forced(): boolean {
    return this.#forced
  }

  /** End of standard input, SIGTERM, SIGKILL: as much of it as is needed. Bounded; never rejects. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  async #stop(): Promise<void> {
    const { endGraceMs, termGraceMs, killGraceMs } = this.#times
    this.#child.stdin.end()
    // Without its leader a group has nobody left who could act on the end of input.
    const ended =
      (await this.#endedWithin(this.#leaderGone ? 0 : endGraceMs)) ||
      (await this.#force('SIGTERM', termGraceMs)) ||
      (await this.#force('SIGKILL', killGraceMs))
    if (ended && this.#gone) return
    const linger = setInterval(() => this.gone() && clearInterval(linger), LINGER_MS).unref()
  }

  #force(signal: 'SIGTERM' | 'SIGKILL', graceMs: number): Promise<boolean> {
    this.#forced = true
    signalGroup(this.#id, signal)
    return this.#endedWithin(graceMs)
  }

  async #endedWithin(milliseconds: number): Promise<boolean> {
    const deadline = performance.now() + milliseconds
    if (!this.#leaderGone) await within(this.leaderExited, milliseconds)
    for (let pause = FIRST_POLL_MS; !this.gone(); pause = Math.min(2 * pause, SLOWEST_POLL_MS)) {
      if (this.#leaderGone && !(await groupRuns(this.#id))) return true
      const left = deadline - performance.now()
      if (left <= 0) return false
      await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)))
    }
    return true
  }
}

import { join } from 'node:path'
import type { DedupRequest, DedupVerdict, Host, Log } from '@tapline/core'
import { Claims } from './claims.ts'
import { isObject, LONGEST_MS } from './entry.ts'
import { BEAT_MS, enter, type Holder, leave } from './holder.ts'
import { releaseDead, signLock } from './lock-owner.ts'
import { StateFile } from './state-file.ts'
import { atMost, pause, turn } from './waiting.ts'

/** Nobody waits longer for the lock: the hook has five seconds. */
const LOCK_WAIT_MS = 3_000
/** Whoever waits for the lock looks this often whether another process has answered what is asked. */
const LOOK_MS = 50
/** The lock is held this long while claims keep coming in; others wait for it. */
const HOLD_MS = 10
/** It is given back when none has come in for this many turns of the event loop, a fraction of a millisecond. */
const IDLE_TURNS = 50
/** Between two holds, so that others have their turn. */
const PAUSE_MS = 10
/** After a failure; what was decided meanwhile is known to this process alone. */
const RETRY_MS = 10_000
/** What is left at the end is written within this time or not at all. */
const CLOSE_MS = 2_000
/** A lock that was held longer may have been taken away: the machine slept, or the event loop was blocked. */
const OVERRUN_MS = 5_000

/** Makes equal events of one project one event, in all processes of this machine. */
export interface ProjectWindow {
  /** The verdict, where it can be told without looking anything up. */
  known(request: DedupRequest): DedupVerdict | undefined
  /** The verdict. Never rejects, and answers within about three seconds. */
  claim(request: DedupRequest): Promise<DedupVerdict>
  /** Frees what is not settled, and writes what is left. */
  close(): Promise<void>
}

interface Asked {
  readonly request: DedupRequest
  readonly answer: (verdict: DedupVerdict) => void
}

/** A window over `<loops dir>/dedup.json`. Where the file cannot be used, it is a window of this process, and says so once. */
export function openProjectWindow(
  { files, paths, projects }: Pick<Host, 'files' | 'paths' | 'projects'>,
  windowMs: number,
  log: Log,
): ProjectWindow {
  const path = join(paths.loopsDir, 'dedup.json')
  return new SharedWindow(files, path, projects.real(paths.cwd), Math.min(windowMs, LONGEST_MS), log)
}

/**
 * Claims are decided while the lock is held and written before it is given back. So a verdict may be out before its
 * claim is in the file: if this process dies in between, the claim is free, as that of any dead process. All other
 * verdicts need no lock.
 */
class SharedWindow implements ProjectWindow {
  readonly #files: Host['files']
  readonly #file: StateFile
  readonly #claims: Claims
  readonly #holder: Holder = enter()
  readonly #log: Log
  #asked: Asked[] = []
  /** Until when claims are decided at once; 0 while the lock is not held. */
  #openUntil = 0
  #turnsIdle = 0
  /** The lock or the file cannot be used: what is known here decides. */
  #alone = false
  #saidAlone = false
  #closed = false
  #running: Promise<void> | undefined
  #beats: NodeJS.Timeout | undefined

  constructor(files: Host['files'], path: string, project: string, windowMs: number, log: Log) {
    this.#files = files
    this.#file = new StateFile(path)
    this.#log = log
    const holder = this.#holder
    this.#claims = new Claims({ project, windowMs, holder, onChange: () => this.#wake() })
  }

  known(request: DedupRequest): DedupVerdict | undefined {
    return performance.now() < this.#openUntil ? this.#decide(request) : this.#claims.known(request, false)
  }

  claim(request: DedupRequest): Promise<DedupVerdict> {
    const verdict = this.known(request) ?? this.#claims.known(request, this.#look())
    if (verdict) return Promise.resolve(verdict)
    if (this.#alone || this.#closed) return Promise.resolve(this.#decide(request))
    return new Promise((answer) => {
      this.#asked.push({ request, answer })
      this.#wake()
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#beats)
    this.#answerAll()
    this.#claims.freePending()
    // Where the file cannot be used, there is nothing to wait for.
    if (this.#running && !this.#alone) await atMost(CLOSE_MS, this.#running)
    leave(this.#holder)
  }

  #decide(request: DedupRequest): DedupVerdict {
    this.#turnsIdle = 0
    const verdict = this.#claims.decide(request)
    if (!this.#beats && !this.#closed && this.#claims.hasPending) {
      this.#beats = setInterval(() => this.#beat(), BEAT_MS)
      this.#beats.unref()
    }
    return verdict
  }

  #beat(): void {
    if (this.#claims.hasPending) return this.#claims.beat()
    clearInterval(this.#beats)
    this.#beats = undefined
  }

  #answerAll(): void {
    for (const { request, answer } of this.#asked.splice(0)) answer(this.#decide(request))
  }

  #answerKnown(): void {
    if (this.#asked.length === 0 || !this.#look()) return
    this.#asked = this.#asked.filter(({ request, answer }) => {
      const verdict = this.#claims.known(request, true)
      if (verdict) answer(verdict)
      return !verdict
    })
  }

  /** Reads what others have written. Answers whether the file could be read. */
  #look(): boolean {
    try {
      const content = this.#file.read()
      if (typeof content === 'object') this.#claims.merge(content)
      return content !== 'unusable'
    } catch {
      return false
    }
  }

  get #hasWork(): boolean {
    return this.#asked.length > 0 || this.#claims.isUnwritten
  }

  #wake(): void {
    if (!this.#running && this.#hasWork) this.#running = this.#run()
  }

  async #run(): Promise<void> {
    // The lock is asked for after this turn, with all that comes in until then.
    await turn()
    while (this.#hasWork) {
      const usable = await this.#hold()
      if (this.#closed && !usable) break
      if (this.#hasWork) await pause(usable ? PAUSE_MS * (0.5 + Math.random()) : RETRY_MS, usable)
    }
    this.#running = undefined
  }

  /** Takes the lock once. Answers whether the file could be used. */
  async #hold(): Promise<boolean> {
    const { lock } = this.#file
    const looks = setInterval(() => {
      this.#answerKnown()
      releaseDead(lock)
    }, LOOK_MS)
    const late = setTimeout(
      () => this.#goOnAlone(`its lock, ${lock}, is held by another process`),
      LOCK_WAIT_MS,
    )
    const isHeld = (): void => {
      clearInterval(looks)
      clearTimeout(late)
    }
    looks.unref()
    late.unref()
    try {
      const isUsable = await this.#files.locked(this.#file.path, async () => {
        const unsign = signLock(lock, this.#holder)
        return await this.#exchange(isHeld).finally(unsign)
      })
      if (!isUsable) await this.#setAside()
      return true
    } catch (thrown) {
      this.#goOnAlone(thrown instanceof Error ? thrown.message : String(thrown))
      return false
    } finally {
      isHeld()
    }
  }

  /** Under the lock: reads what others wrote, decides what is asked, writes. Answers whether the file is JSON. */
  async #exchange(isHeld: () => void): Promise<boolean> {
    const began = Date.now()
    const content = this.#file.read()
    if (content === 'unusable') return false
    if (content !== 'same') this.#claims.merge(content)
    isHeld()
    this.#alone = false
    this.#openUntil = performance.now() + HOLD_MS
    this.#turnsIdle = 0
    try {
      this.#answerAll()
      // Whoever claims one event after the other does so many times in this hold.
      while (performance.now() < this.#openUntil && this.#turnsIdle < IDLE_TURNS) {
        this.#turnsIdle++
        await turn()
      }
    } finally {
      this.#openUntil = 0
    }
    if (!this.#claims.isUnwritten || Math.abs(Date.now() - began) > OVERRUN_MS) return true
    this.#file.write(this.#claims.text())
    this.#claims.written()
    return true
  }

  async #setAside(): Promise<void> {
    const file = this.#files.json<Record<string, unknown>>({
      path: this.#file.path,
      empty: () => ({}),
      accepts: isObject,
      onSetAside: (path, keptAs) =>
        this.#log.warn(
          `${path} could not be read as JSON. It is kept as ${keptAs}; events of the last minutes may be delivered twice.`,
        ),
    })
    await file.update((content) => content)
  }

  #goOnAlone(why: string): void {
    this.#alone = true
    this.#answerKnown()
    this.#answerAll()
    if (this.#saidAlone || this.#closed) return
    this.#saidAlone = true
    this.#log.warn(
      `${this.#file.path} cannot be used: ${why}. Until it can, this window does not know what other windows deliver: events may be delivered in each.`,
    )
  }
}

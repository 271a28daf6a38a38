import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Host, Plugin, Windows } from '@tapline/core'
import { isAlive } from '@tapline/headless'
import { noJournal, openJournal, type TurnJournal } from './journal.ts'
import { type JournalOwner, journalPaths, ownerOf, readJournal, TURNS_FOLDER } from './journal-file.ts'

/** How often a window looks for what a killed one has left, in milliseconds. */
const LOOK_MS = 10_000
/**
 * A process that is there and says nothing stands still, or has only the number of another: it is given up after this,
 * by a clock that does not go on while the machine sleeps.
 */
const STANDSTILL_MS = 90_000
/** What no inbox has taken by then is given up, and what is left of a takeover with it. */
const LONGEST_KEPT_MS = 7 * 24 * 60 * 60_000
const KILLED = 'the window that was to have a turn with it was killed before the end of that'
const STOOD_STILL = 'the window that was to have a turn with it stood still for too long'

/**
 * Gives this window its journal, and puts into the inbox what waited in windows that are gone: at once, and then every
 * ten seconds.
 */
export function turnsPlugin(onReady: (journal: TurnJournal) => void): Plugin {
  return {
    name: 'pi-turns',
    api: 1,
    setup({ host, log }) {
      const { windows, paths } = host
      if (!host.delivers || !windows) return undefined
      const journal = openJournal(paths.loopsDir, windows.self)
      onReady(journal)
      const takeover = new Takeover(host, windows, (message) => log.warn(message))
      takeover.look()
      const timer = setInterval(() => takeover.look(), LOOK_MS).unref()
      return () => {
        clearInterval(timer)
        takeover.end()
        // The window leaves: what is in its journal would be taken for left.
        onReady(noJournal)
        journal.keep([])
      }
    },
  }
}

/**
 * A journal is taken over by being renamed, which happens once: from then on its events belong to the inbox, also when
 * the window that they waited in goes on. What is left of it tells that window, and is removed by whoever comes last.
 */
class Takeover {
  readonly #host: Host
  readonly #windows: Windows
  readonly #warn: (message: string) => void
  readonly #folder: string
  /** Since when, by a monotonic clock, processes that are there have said nothing. */
  #silent: ReadonlyMap<string, number> = new Map()
  #looking = false
  #ended = false

  constructor(host: Host, windows: Windows, warn: (message: string) => void) {
    this.#host = host
    this.#windows = windows
    this.#warn = warn
    this.#folder = join(host.paths.loopsDir, TURNS_FOLDER)
  }

  /** Takes over what is left now. One look at a time; what goes wrong is left for the next. */
  look(): void {
    if (this.#looking || this.#ended) return
    this.#looking = true
    void this.#look()
      .catch((thrown: unknown) => this.#fail(thrown))
      .finally(() => (this.#looking = false))
  }

  /** What has been begun is left to the next window. */
  end(): void {
    this.#ended = true
  }

  async #look(): Promise<void> {
    const names = namesIn(this.#folder)
    const owners = ownersOf(names)
    const left = this.#leftOf(owners)
    if (!owners.some((owner) => this.#isDue(owner, left.has(owner)))) return
    await this.#host.files.locked(this.#folder, async () => {
      removeTorn(this.#folder, names)
      for (const owner of owners) {
        if (this.#ended) return
        // While the lock was waited for, it may have gone on.
        const stillLeft = left.has(owner) && this.#leftOf(owners).has(owner)
        if (!this.#isDue(owner, stillLeft)) continue
        await this.#takeOver(owner, stillLeft).catch((thrown: unknown) => this.#fail(thrown))
      }
    })
  }

  /** Those that are gone or have been given up. */
  #leftOf(owners: readonly JournalOwner[]): ReadonlySet<JournalOwner> {
    const nameOf = ({ pid, instance }: JournalOwner): string => `${pid}-${instance}`
    const there = new Set([this.#windows.self, ...this.#windows.list()].map(nameOf))
    const absent = owners.filter((owner) => !there.has(nameOf(owner)))
    const now = performance.now()
    const earlier = this.#silent
    this.#silent = new Map(absent.map(nameOf).map((name) => [name, earlier.get(name) ?? now]))
    const isGivenUp = (owner: JournalOwner): boolean =>
      now - (this.#silent.get(nameOf(owner)) ?? now) >= STANDSTILL_MS
    return new Set(absent.filter((owner) => !isAlive(owner.pid) || isGivenUp(owner)))
  }

  /** Whether there is anything to do: what tells a window that is there is left to it. */
  #isDue(owner: JournalOwner, left: boolean): boolean {
    const { journal, taken } = this.#paths(owner)
    if (left && existsSync(journal)) return true
    if (!existsSync(taken)) return false
    return !isAlive(owner.pid) || isOld(taken) || readJournal(taken)?.waiting.length !== 0
  }

  async #takeOver(owner: JournalOwner, left: boolean): Promise<void> {
    const { journal, taken } = this.#paths(owner)
    const gone = !isAlive(owner.pid)
    for (;;) {
      if (existsSync(taken)) {
        const old = isOld(taken)
        const brought = await this.#bring(taken, gone ? KILLED : STOOD_STILL)
        if (!brought && old)
          this.#warn(
            `No inbox has taken in a week what waited in a window that is gone: ${taken} is removed.`,
          )
        if (!old && !(brought && gone)) return
        rmSync(taken, { recursive: true, force: true })
      }
      if (!left || !existsSync(journal)) return
      renameSync(journal, taken)
      // From now on it is kept for so long.
      utimesSync(taken, new Date(), new Date())
    }
  }

  /** What is in the inbox already, by its trace id, it does not take twice. */
  async #bring(taken: string, reason: string): Promise<boolean> {
    const waiting = readJournal(taken)?.waiting ?? []
    for (const { waits, cwd } of waiting)
      if (!(await this.#host.toInbox?.(waits, { reason, cwd }))) return false
    const ids = waiting.map(({ waits }) => waits.traceId)
    if (ids.length > 0) this.#host.files.append(taken, JSON.stringify({ taken: ids }))
    return true
  }

  #paths(owner: JournalOwner): ReturnType<typeof journalPaths> {
    return journalPaths(this.#host.paths.loopsDir, owner)
  }

  #fail(thrown: unknown): void {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#warn(`What waited in a window that was killed is left for later: ${message}`)
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Each once. */
function ownersOf(names: readonly string[]): readonly JournalOwner[] {
  const owners = names.flatMap((name) => ownerOf(name) ?? [])
  return [...new Map(owners.map((owner) => [`${owner.pid}-${owner.instance}`, owner])).values()]
}

/** A journal that was being written anew when its process was killed: the one that it was to replace is there. */
function removeTorn(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const [, pid] = /\.jsonl\.(\d+)\.[^.]+\.tmp$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

function isOld(path: string): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return mtimeMs !== undefined && Date.now() - mtimeMs > LONGEST_KEPT_MS
}

import type { DedupRequest, DedupVerdict, Trigger } from '@tapline/core'
import { doneEntry, Entry, pendingEntry } from './entry.ts'
import { type Holder, isAlive } from './holder.ts'

/** More than this are not remembered; the oldest go first. */
const MOST_CLAIMS = 10_000
/** Dropping the oldest is worth the walk from this many on. */
const SPARE_CLAIMS = 1_000
/** What another process is delivering is asked after again this much later. */
const ASK_AGAIN_MS = 1_000
/** Several windows see one push within this time: each has a connection of its own. */
const SAME_PUSH_MS = 2_000
/** Less than this is no clock that was set, but one that is kept right. */
const SET_BACK_MS = 1_000

/** What {@link Claims} takes. */
export interface ClaimsOptions {
  /** Real path of the project that the claims of this window are for. */
  readonly project: string
  readonly windowMs: number
  readonly holder: Holder
  /** Called when there is something to write. */
  readonly onChange: () => void
}

/**
 * The claims that the file holds, as far as they are known here, and those that it does not hold yet. A claim lasts
 * until its end by the wall clock; one that is set back takes the claims with it, so that none lasts longer than it should.
 */
export class Claims {
  readonly #options: ClaimsOptions
  /** Oldest first. */
  #entries = new Map<string, Entry>()
  /** Keys of our own claims that are not delivered yet. */
  readonly #pending = new Set<string>()
  /** Trace ids of claims that the file may still hold and that are free. */
  readonly #freed = new Set<string>()
  /** How far the wall clock is ahead of the one that is never set. */
  #ahead = Date.now() - performance.now()
  #unwritten = false

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  get isUnwritten(): boolean {
    return this.#unwritten
  }

  get hasPending(): boolean {
    return this.#pending.size > 0
  }

  /**
   * The verdict, unless it depends on what other processes do: then undefined. Right after the file was read
   * (`isFresh`), only a claim does.
   */
  known({ trigger, held }: DedupRequest, isFresh: boolean): DedupVerdict | undefined {
    const now = this.#now()
    const entry = this.#standing(trigger, now)
    if (!entry) return undefined
    if (entry.isOurs || !entry.isPending) return repeated(entry, trigger, held)
    return isFresh ? this.#waiting(entry, trigger, now) : undefined
  }

  /** The verdict by what is known now. A first one is a claim that is to be written. */
  decide({ trigger, held }: DedupRequest): DedupVerdict {
    const now = this.#now()
    const entry = this.#standing(trigger, now)
    if (!entry) return this.#claim(trigger, now)
    if (entry.isOurs || !entry.isPending) return repeated(entry, trigger, held)
    return this.#waiting(entry, trigger, now) ?? this.#claim(trigger, now)
  }

  /** A claim ends: it stands until its window does, or is free. */
  settle(key: string, traceId: string, isDelivered: boolean): void {
    const entry = this.#entries.get(key)
    // Another process may have taken over what lasted too long.
    if (!entry?.isOurs || !entry.isPending || entry.traceId !== traceId) return
    this.#pending.delete(key)
    if (isDelivered) {
      this.#entries.set(key, doneEntry(entry))
    } else {
      this.#entries.delete(key)
      this.#freed.add(traceId)
      // The file holds no more claims than this.
      if (this.#freed.size > MOST_CLAIMS) this.#freed.delete(this.#freed.values().next().value as string)
    }
    this.#changed()
  }

  /** Frees what is not settled. */
  freePending(): void {
    for (const key of this.#pending) this.settle(key, this.#entries.get(key)?.traceId ?? '', false)
  }

  /** Says of every pending claim that its holder is there. */
  beat(): void {
    const beat = this.#now()
    for (const key of this.#pending) this.#change(key, { beat })
  }

  /** Takes in what the file holds. What others have freed is gone here too; what is ours and was lost there is kept. */
  merge(content: Readonly<Record<string, unknown>>): void {
    const now = this.#now()
    const before = this.#entries
    const read: Entry[] = []
    for (const [key, fields] of Object.entries(content)) {
      const entry = before.get(key)?.updated(fields) ?? new Entry(key, fields)
      const isFreed = this.#freed.size > 0 && this.#freed.has(entry.traceId ?? '')
      if (!isFreed && !entry.isOver(now)) read.push(entry)
    }
    const keys = new Set(read.map(({ key }) => key))
    for (const entry of before.values())
      if (entry.isOurs && !keys.has(entry.key) && !entry.isOver(now)) read.push(entry)
    if (read.some(({ at }, index) => ageOrder(at) < ageOrder(read[index - 1]?.at)))
      read.sort((a, b) => ageOrder(a.at) - ageOrder(b.at))
    this.#entries = new Map(read.map((entry) => [entry.key, entry]))
    for (const key of this.#pending) if (!this.#entries.get(key)?.isOurs) this.#pending.delete(key)
  }

  /** What the file is to hold. */
  text(): string {
    const now = this.#now()
    for (const [key, entry] of this.#entries) if (entry.isOver(now)) this.#forget(key)
    this.#dropOldest()
    return this.#entries.size === 0
      ? '{}\n'
      : `{\n${[...this.#entries.values()].map(({ text }) => text).join(',\n')}\n}\n`
  }

  /** The file holds it all. */
  written(): void {
    this.#freed.clear()
    this.#unwritten = false
  }

  /** The claim of this key that is in its window. */
  #standing(trigger: Trigger, now: number): Claimed | undefined {
    const entry = this.#entries.get(this.#keyOf(trigger))
    return entry !== undefined && isClaimed(entry) && !entry.isOver(now) ? entry : undefined
  }

  /** The verdict while another process delivers; undefined when it is gone. */
  #waiting(entry: Claimed, trigger: Trigger, now: number): DedupVerdict | undefined {
    if (!isAlive(entry.fields as Record<string, unknown>, now)) return undefined
    entry.firstHere ??= trigger.traceId
    return { verdict: 'later', until: now + ASK_AGAIN_MS, of: entry.traceId }
  }

  #claim(trigger: Trigger, now: number): DedupVerdict {
    const { windowMs, holder } = this.#options
    const key = this.#keyOf(trigger)
    // Forgotten first, so that the newest are last.
    this.#forget(key)
    this.#entries.set(key, pendingEntry(key, trigger, now, windowMs, holder))
    this.#pending.add(key)
    if (this.#entries.size >= MOST_CLAIMS + SPARE_CLAIMS) this.#dropOldest()
    this.#changed()
    return new FirstClaim(this, key, trigger.traceId)
  }

  #dropOldest(): void {
    let surplus = this.#entries.size - MOST_CLAIMS
    for (const key of this.#entries.keys()) {
      if (surplus-- <= 0) break
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#entries.delete(key)
    this.#pending.delete(key)
  }

  #keyOf({ key }: Trigger): string {
    return `${key}@${this.#options.project}`
  }

  #now(): number {
    const now = Date.now()
    const ahead = now - performance.now()
    const setBackMs = this.#ahead - ahead
    // Set forward, or the machine slept: windows may end early, which loses nothing.
    if (setBackMs < 0) this.#ahead = ahead
    if (setBackMs > SET_BACK_MS) {
      this.#ahead = ahead
      for (const [key, { at }] of this.#entries) this.#change(key, { at: Math.round(at - setBackMs) })
    }
    return now
  }

  #change(key: string, fields: Readonly<Record<string, unknown>>): void {
    const entry = this.#entries.get(key)
    if (entry?.traceId === undefined) return
    this.#entries.set(key, entry.with(fields))
    this.#changed()
  }

  #changed(): void {
    this.#unwritten = true
    this.#options.onChange()
  }
}

type Claimed = Entry & { readonly traceId: string }

function isClaimed(entry: Entry): entry is Claimed {
  return entry.traceId !== undefined
}

/** The verdict on a later event of a claimed key. */
function repeated(entry: Claimed, trigger: Trigger, held: boolean | undefined): DedupVerdict {
  const { traceId, at, end, receivedAt } = entry
  const duplicate = { verdict: 'duplicate', of: traceId } as const
  if (trigger.replacement === 'drop') return duplicate
  // One timer may fire a little before the clock has come this far.
  const later = { verdict: 'later', until: Math.ceil(end) + 2 } as const
  if (receivedAt !== undefined) return held && trigger.receivedAt <= receivedAt ? duplicate : later
  entry.firstHere ??= trigger.traceId
  const isSamePush = entry.firstHere === trigger.traceId && trigger.receivedAt - at <= SAME_PUSH_MS
  return isSamePush || (held && trigger.receivedAt <= at) ? duplicate : later
}

function ageOrder(at = -Infinity): number {
  return Number.isNaN(at) ? -Infinity : at
}

/** The verdict for the first of its key. */
class FirstClaim {
  readonly verdict = 'first'
  readonly #claims: Claims
  readonly #key: string
  readonly #traceId: string

  constructor(claims: Claims, key: string, traceId: string) {
    this.#claims = claims
    this.#key = key
    this.#traceId = traceId
  }

  done(): void {
    this.#claims.settle(this.#key, this.#traceId, true)
  }

  failed(): void {
    this.#claims.settle(this.#key, this.#traceId, false)
  }
}

import type { Trigger } from '@tapline/core'
import type { Holder } from './holder.ts'

/** Five minutes, measured from the first arrival. */
export const WINDOW_MS = 300_000
/** An entry from further in the future was written by a clock that was wrong. */
const FUTURE_MS = 60_000
/** A length beyond this is damage, in milliseconds. */
export const LONGEST_MS = 24 * 60 * 60_000

type Fields = Readonly<Record<string, unknown>>

/** One key of the file. What it says beyond what is known here is kept as it is. */
export class Entry {
  readonly key: string
  /** Milliseconds since the epoch; not a number where the entry does not say. */
  readonly at: number
  /** Undefined for what is no claim. */
  readonly traceId: string | undefined
  readonly fields: unknown
  readonly isPending: boolean
  readonly #lastsMs: number
  /** When the event of a claim made here arrived; undefined for claims of others. */
  receivedAt: number | undefined
  /** The trace id of the first event of this key that arrived here. */
  firstHere: string | undefined
  #text: string | undefined

  constructor(key: string, fields: unknown) {
    const { at, traceId, state, windowMs } = (isObject(fields) ? fields : {}) as Fields
    this.key = key
    this.fields = fields
    this.at = typeof at === 'number' ? at : Number.NaN
    this.traceId = typeof traceId === 'string' && !Number.isNaN(this.at) ? traceId : undefined
    this.isPending = state === 'pending'
    this.#lastsMs =
      typeof windowMs === 'number' && windowMs > 0 && windowMs <= LONGEST_MS ? windowMs : WINDOW_MS
  }

  /** Milliseconds since the epoch. */
  get end(): number {
    return this.at + this.#lastsMs
  }

  /** Whether this process made the claim. */
  get isOurs(): boolean {
    return this.receivedAt !== undefined
  }

  /** What cannot be dated is never over. */
  isOver(now: number): boolean {
    return now >= this.end || this.at - now > FUTURE_MS
  }

  /** The same claim with other fields: what is known of it here stays known. */
  with(changes: Fields): Entry {
    const changed = new Entry(this.key, { ...(this.fields as Fields), ...changes })
    changed.receivedAt = this.receivedAt
    changed.firstHere = this.firstHere
    return changed
  }

  /** The entry after the file was read anew. A clock that was set back here has been allowed for; our own claims are as we know them. */
  updated(fields: unknown): Entry {
    const read = new Entry(this.key, fields)
    if (read.traceId === undefined || read.traceId !== this.traceId) return read
    if (this.isOurs || (!this.isPending && this.at <= read.at)) return this
    const next = read.at > this.at ? read.with({ at: this.at }) : read
    next.firstHere = this.firstHere
    return next
  }

  /** As it stands in the file. Kept, because most entries are written many times. */
  get text(): string {
    this.#text ??= `${JSON.stringify(this.key)}:${JSON.stringify(this.fields)}`
    return this.#text
  }
}

/** A claim of this process that is not delivered yet. */
export function pendingEntry(
  key: string,
  { traceId, replacement, receivedAt }: Trigger,
  at: number,
  windowMs: number,
  holder: Holder,
): Entry {
  const entry = new Entry(key, {
    at,
    traceId,
    policy: replacement,
    ...(windowMs === WINDOW_MS ? {} : { windowMs }),
    state: 'pending',
    ...holder,
    beat: at,
  })
  entry.receivedAt = receivedAt
  return entry
}

/** The same claim, delivered: pi-loops' own shape, which says nothing of a holder. */
export function doneEntry(entry: Entry): Entry {
  const { at, traceId, policy, windowMs } = entry.fields as Fields
  const done = new Entry(entry.key, { at, traceId, policy, ...(windowMs === undefined ? {} : { windowMs }) })
  done.receivedAt = entry.receivedAt
  return done
}

/** Whether parsed JSON has the shape of the file. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { cleanText, type PushCounts, type PushPolicies, ruleOf, type TriggerEvent } from '@tapline/core'
import { fit, pad, wrap } from '../../screen/columns.ts'
import { hintLines } from '../../screen/hints.ts'
import type { Action } from '../../screen/keys.ts'
import { BLANK, type Color, type Line, line } from '../../screen/line.ts'
import { Position } from '../../screen/position.ts'
import type { Sheet } from '../../screen/sheet.ts'
import { type Page, type Panel, type Room, titleLine } from '../page.ts'
import { ago, clock } from '../words.ts'

const MOST_ROWS = 20
const ENDS = ['delivered', 'redirected', 'deduped', 'collapsed', 'dropped', 'pending'] as const

const STATE_COLUMNS = 26
const COLORS: Readonly<Record<string, Color>> = {
  delivered: 'success',
  redirected: 'accent',
  dropped: 'warning',
}

/** What a server pushed, and what became of it. */
export function createPushesPage(panel: Panel, name: string): Page {
  return new PushesPage(panel, name)
}

class PushesPage implements Page {
  readonly #panel: Panel
  readonly #name: string
  readonly #position = new Position()
  #selected: TriggerEvent | undefined

  constructor(panel: Panel, name: string) {
    this.#panel = panel
    this.#name = name
  }

  sheet({ width }: Room): Sheet {
    const events = this.#events()
    this.#follow(events)
    const keys = hintLines(
      [...(events.length > 1 ? [['arrows', 'move'] as const] : []), ['cancel', 'back']],
      this.#panel.keybindings,
      width,
    )
    const details = eventDetails(events[this.#position.index], width)
    return {
      head: this.#head(events, width),
      rows: {
        count: events.length,
        line: (index) => eventLine(events[index]!, index === this.#position.index),
      },
      at: { selected: this.#position.index },
      mostRows: MOST_ROWS,
      feet: [[BLANK, ...details, BLANK, ...keys], [...details.slice(0, 1), ...keys], keys],
    }
  }

  drawn(page: number): void {
    this.#position.page = page
  }

  act(action: Action): void {
    const events = this.#events()
    this.#follow(events)
    if (this.#position.move(action, events.length))
      // At the top, the newest is what is looked at.
      this.#selected = this.#position.index === 0 ? undefined : events[this.#position.index]
  }

  type(): void {}

  /** The newest first. */
  #events(): readonly TriggerEvent[] {
    return this.#panel.scope.tapline.pipeline.book(this.#name).recent.toReversed()
  }

  #follow(events: readonly TriggerEvent[]): void {
    const at = this.#selected ? events.indexOf(this.#selected) : 0
    if (at >= 0) this.#position.index = at
    this.#position.clamp(events.length)
  }

  #head(events: readonly TriggerEvent[], width: number): readonly Line[] {
    const { tapline } = this.#panel.scope
    const { counts, lastEventAt, lastError } = tapline.pipeline.book(this.#name)
    const sum = ENDS.reduce((total, state) => total + counts[state], 0)
    const last = lastEventAt === undefined ? 'since the start' : `last ${ago(lastEventAt, Date.now())}`
    const more = [
      ...(sum === counts.received ? [] : [`This does not add up: ${sum} are accounted for.`]),
      ...(lastError === undefined ? [] : [`last error: ${cleanText(lastError, 300)}`]),
    ]
    const policies = policiesText(tapline.server(this.#name)?.spec.push ?? {})
    return [
      titleLine(`Pushes of ${this.#name}`, { color: 'muted', text: `${counts.received} received, ${last}` }),
      countsLine(counts),
      ...more.flatMap((text) => wrap(text, width - 2, 3).map((part) => line('error', ` ${part}`))),
      line('dim', ` policy: ${policies} · ${counts.handled} of the protocol’s own beside these`),
      ...(events.length > 0 ? [BLANK] : []),
    ]
  }
}

/** Every end that an event can have; what has none stands back. */
function countsLine(counts: PushCounts): Line {
  return ENDS.map((state, index) => ({
    color: counts[state] === 0 ? 'dim' : (COLORS[state] ?? 'text'),
    text: `${index === 0 ? ' ' : ' · '}${counts[state]} ${state}`,
  }))
}

/** `rules`, or what is said of each method. */
function policiesText(push: PushPolicies): string {
  const written = Object.entries(push).map(([method, entry]) => {
    const { policy, limit } = ruleOf(entry)
    return `${method === 'default' ? '' : `${cleanText(method, 60)} `}${policy}${limit === undefined ? '' : ` (${limit})`}`
  })
  return written.length === 0 ? 'the default' : written.join(', ')
}

function eventLine({ ts, state, sink, method, summary, reason }: TriggerEvent, isSelected: boolean): Line {
  const end = [
    state,
    ...(sink === undefined || state === 'dropped' ? [] : [`to ${cleanText(sink, 20)}`]),
    ...(reason === undefined || state === 'delivered' ? [] : [`(${cleanText(reason, 60)})`]),
  ].join(' ')
  return [
    { color: 'accent', text: isSelected ? ' › ' : '   ' },
    { color: 'dim', text: `${clock(ts)}  ` },
    { color: COLORS[state] ?? 'muted', text: pad(fit(end, STATE_COLUMNS), STATE_COLUMNS + 2) },
    { color: isSelected ? 'accent' : 'text', text: shortText(summary || method), bold: isSelected },
  ]
}

/** Every method begins so. */
function shortText(text: string): string {
  return cleanText(text.replace(/^notifications\//, ''), 300)
}

function eventDetails(event: TriggerEvent | undefined, width: number): readonly Line[] {
  if (!event) return []
  const { method, key, policy, reason, summary, traceId } = event
  const facts = [
    cleanText(method, 100),
    `policy ${cleanText(policy, 40)}`,
    `key ${cleanText(key, 100)}`,
    traceId,
  ]
  return [
    ...wrap(cleanText(summary || method, 400), width - 2, 2).map((part) => line('text', ` ${part}`)),
    ...(reason === undefined
      ? []
      : wrap(cleanText(reason, 300), width - 2, 2).map((part) => line('warning', ` ${part}`))),
    ...wrap(facts.join(' · '), width - 2, 2).map((part) => line('dim', ` ${part}`)),
  ]
}

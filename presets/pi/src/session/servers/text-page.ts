import { type Hint, hintLines } from '../screen/hints.ts'
import type { Action } from '../screen/keys.ts'
import { BLANK, type Line, line } from '../screen/line.ts'
import { Position } from '../screen/position.ts'
import type { Sheet } from '../screen/sheet.ts'
import { type Page, type Panel, type Room, titleLine } from './page.ts'

/** What a page of text shows. */
export interface TextOptions {
  readonly title: string
  /** Beside the title. */
  about?(): string
  /** As they are now. */
  lines(room: Room): readonly Line[]
  /** What stands there when there are none. */
  readonly empty: string
  /** Whether the end stays in sight as lines are added, until somebody scrolls up. */
  readonly follows?: boolean
  /** The page is left. */
  close?(): void
}

/** A page of text to scroll through. */
export function createTextPage(panel: Panel, options: TextOptions): Page {
  return new TextPage(panel, options)
}

class TextPage implements Page {
  readonly #panel: Panel
  readonly #options: TextOptions
  readonly #position = new Position()
  #count = 0
  #follows: boolean

  constructor(panel: Panel, options: TextOptions) {
    this.#panel = panel
    this.#options = options
    this.#follows = options.follows === true
  }

  sheet(room: Room): Sheet {
    const { title, about, lines, empty, follows } = this.#options
    const shown = lines(room)
    this.#count = shown.length
    const said = [about?.() ?? '', ...(this.#follows && shown.length > 0 ? ['followed'] : [])]
      .filter(Boolean)
      .join(', ')
    const hints: readonly Hint[] = [
      ...(shown.length > 1 ? [['arrows', 'scroll'] as const] : []),
      ...(follows && !this.#follows ? [['end', 'follow'] as const] : []),
      ['cancel', 'back'],
    ]
    const keys = hintLines(hints, this.#panel.keybindings, room.width)
    return {
      head: [
        titleLine(title, ...(said === '' ? [] : [{ color: 'muted' as const, text: said }])),
        ...(shown.length === 0 ? [BLANK, line('muted', ` ${empty}`)] : []),
      ],
      rows: { count: shown.length, line: (index) => shown[index] ?? BLANK },
      at: { top: this.#follows ? Infinity : this.#position.index },
      mostRows: Infinity,
      feet: [[BLANK, ...keys], keys.slice(0, 1)],
    }
  }

  drawn(page: number): void {
    this.#position.page = page
  }

  act(action: Action): void {
    const { page } = this.#position
    // Scrolling is by the first row shown: the last one is where the end is in sight.
    const last = Math.max(0, this.#count - page)
    if (this.#follows) this.#position.index = last
    const count = last + 1
    if (!this.#position.move(action, count)) return
    this.#follows = this.#options.follows === true && this.#position.index === last
  }

  type(): void {}

  close(): void {
    this.#options.close?.()
  }
}

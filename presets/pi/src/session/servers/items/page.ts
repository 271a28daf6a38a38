import { columnsOf, fit, pad, wrap } from '../../screen/columns.ts'
import { type Hint, hintLines } from '../../screen/hints.ts'
import type { Action } from '../../screen/keys.ts'
import { BLANK, type Color, type Line, line, type Span } from '../../screen/line.ts'
import { Search, SEARCH_KEY } from '../../screen/search.ts'
import { Selection } from '../../screen/selection.ts'
import type { Sheet } from '../../screen/sheet.ts'
import { type Page, type Panel, type Room, titleLine } from '../page.ts'
import { count } from '../words.ts'

/** Something that a server offers: a row, and a few lines below the list. Every text stands on one line. */
export interface Item {
  /** What it is known by among the others. */
  readonly key: string
  readonly name: string
  readonly color: Color
  /** What stands between its name and what it is about, equally wide for all. */
  readonly mark?: Span
  readonly about: string
  /** Of the selected one, in about `most` lines. */
  details(width: number, most: number): readonly Line[]
}

/** What a page shows. */
export interface ItemsOptions {
  /** `Tools of hub`. */
  readonly title: string
  /** `tool`. */
  readonly noun: string
  /** As they are now: the same list until there is something else to see. Undefined where they are not known yet. */
  items(): readonly Item[] | undefined
  /** Beside the number of items. */
  about?(): string
  /** Below the title. */
  head?(room: Room): readonly Line[]
  /** What stands there when there are none. */
  nothing(): string
  /** Lines about the selected one, where there is room. */
  readonly detailRows: number
  open?(item: Item): void
  /** Further keys. */
  readonly hints?: readonly Hint[]
  type?(letter: string): void
  close?(): void
}

const MOST_ROWS = 20
const LONGEST_NAME = 48
/** Pointer, and a blank after it. */
const BEFORE = 3
const GAP = 2
/** With less room than this for what an item is about, its name has that room too. */
const ROOM_FOR_WORDS = 12

/** A page of what a server offers, to move in and to search. */
export function createItemsPage(panel: Panel, options: ItemsOptions): Page {
  return new ItemsPage(panel, options)
}

/** What stands below a list: the name of what is selected, and what else is known of it. */
export function detailLines(
  [name = '', ...texts]: readonly string[],
  width: number,
  most: number,
): readonly Line[] {
  const lines = (color: Color, text: string): readonly Line[] =>
    wrap(text, width - 2, most).map((part) => line(color, ` ${part}`))
  return [...lines('text', name), ...texts.flatMap((text) => lines('muted', text))].slice(0, most)
}

class ItemsPage implements Page {
  readonly #panel: Panel
  readonly #options: ItemsOptions
  readonly #selection = new Selection<Item>(({ key }) => key)
  readonly #search = new Search()
  #found: { readonly all: readonly Item[]; readonly wanted: string; readonly items: readonly Item[] } = {
    all: [],
    wanted: '',
    items: [],
  }

  constructor(panel: Panel, options: ItemsOptions) {
    this.#panel = panel
    this.#options = options
  }

  sheet(room: Room): Sheet {
    const { width } = room
    const items = this.#items()
    const at = this.#selection.index(items)
    const layout = layoutFor(items, width)
    const keys = hintLines(this.#hints(items), this.#panel.keybindings, width)
    const details = (most: number): readonly Line[] => items[at]?.details(width, most) ?? []
    return {
      head: this.#head(items, room),
      rows: { count: items.length, line: (index) => itemLine(items[index]!, index === at, layout) },
      at: { selected: at },
      mostRows: MOST_ROWS,
      feet: [
        ...(items.length === 0
          ? []
          : [
              [BLANK, ...details(this.#options.detailRows), BLANK, ...keys],
              [...details(1), ...keys],
            ]),
        [BLANK, ...keys],
        keys,
        keys.slice(0, 1),
      ],
    }
  }

  drawn(page: number): void {
    this.#selection.page = page
  }

  act(action: Action): void {
    const items = this.#items()
    if (this.#selection.move(action, items)) return
    const item = this.#selection.row(items)
    if (action === 'confirm' && item) this.#options.open?.(item)
  }

  type(letter: string): void {
    if (letter === SEARCH_KEY) this.#search.begin()
    else this.#options.type?.(letter)
  }

  take(data: string): boolean {
    if (!this.#search.take(data, this.#panel.keybindings)) return false
    this.#selection.narrow(this.#items())
    return true
  }

  close(): void {
    this.#options.close?.()
  }

  /** Those that have what is looked for. */
  #items(): readonly Item[] {
    const all = this.#options.items() ?? []
    const { wanted } = this.#search
    if (this.#found.all !== all || this.#found.wanted !== wanted) {
      const items =
        wanted === ''
          ? all
          : all.filter(({ name, mark, about }) => this.#search.fits(`${name} ${mark?.text ?? ''} ${about}`))
      this.#found = { all, wanted, items }
    }
    return this.#found.items
  }

  #head(items: readonly Item[], room: Room): readonly Line[] {
    const { title, noun, items: known, about, head, nothing } = this.#options
    const all = known()
    const counted = all === undefined || all.length === 0 ? [] : [count(all.length, noun)]
    const text = [...counted, about?.() ?? ''].filter(Boolean).join(', ')
    const empty = this.#search.wanted === '' ? nothing() : `No ${noun} fits that.`
    return [
      titleLine(title, { color: 'muted', text }),
      ...this.#search.lines(room.width),
      ...(head?.(room) ?? []),
      BLANK,
      ...(items.length === 0 ? [line('muted', ` ${empty}`)] : []),
    ]
  }

  #hints(items: readonly Item[]): readonly Hint[] {
    const { open, hints = [] } = this.#options
    return [
      ...(items.length > 1 ? [['arrows', 'move'] as const] : []),
      ...(open && items.length > 0 ? [['confirm', 'open'] as const] : []),
      ...(this.#search.isOpen
        ? [['cancel', 'show all'] as const]
        : [
            ...(items.length > 1 ? [[SEARCH_KEY, 'find'] as const] : []),
            ...hints,
            ['cancel', 'back'] as const,
          ]),
    ]
  }
}

interface Layout {
  /** How wide names are. */
  readonly names: number
  /** Whether what items are about is shown. */
  readonly hasWords: boolean
}

function layoutFor(items: readonly Item[], width: number): Layout {
  const names = Math.max(0, ...items.map(({ name }) => Math.min(LONGEST_NAME, columnsOf(name))))
  const room = Math.max(0, width - BEFORE - GAP - columnsOf(items[0]?.mark?.text ?? ''))
  return room - names < ROOM_FOR_WORDS ? { names: room, hasWords: false } : { names, hasWords: true }
}

function itemLine({ name, color, mark, about }: Item, isSelected: boolean, layout: Layout): Line {
  const { names, hasWords } = layout
  return [
    { color: 'accent', text: isSelected ? ' › ' : '   ' },
    { color: isSelected ? 'accent' : color, text: pad(fit(name, names), names + GAP), bold: isSelected },
    ...(mark ? [mark] : []),
    ...(hasWords ? [{ color: 'muted' as const, text: about }] : []),
  ]
}

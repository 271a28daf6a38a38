import type { Server } from '@tapline/headless'
import { columnsOf, fit, pad, wrap } from '../../screen/columns.ts'
import { hintLines } from '../../screen/hints.ts'
import type { Action } from '../../screen/keys.ts'
import { BLANK, type Line, line } from '../../screen/line.ts'
import { Selection } from '../../screen/selection.ts'
import type { Sheet } from '../../screen/sheet.ts'
import { serverActions } from '../server-actions.ts'
import { needsAttention } from '../order.ts'
import { type Page, type Panel, type Room, titleLine } from '../page.ts'
import { standingOf, troubleOf } from '../standing.ts'
import { fileTexts, transportText } from '../words.ts'
import { noteLines } from '../work.ts'
import { sectionsOf } from './sections.ts'

/** An entry of the page's list: a section, or something to do. */
interface Entry {
  readonly key: string
  readonly label: string
  readonly detail: string
  run(): void
}

const MOST_ROWS = 16
const LABEL_COLUMNS = 24
/** Below this height what is wrong is told in short; the page of the connection has it whole. */
const ROOM_FOR_REASON = 30

/** One server: where it stands, what it offers, and what can be done with it. */
export function createServerPage(panel: Panel, name: string): Page {
  return new ServerPage(panel, name)
}

class ServerPage implements Page {
  readonly #panel: Panel
  readonly #name: string
  readonly #selection = new Selection<Entry>(({ key }) => key)

  constructor(panel: Panel, name: string) {
    this.#panel = panel
    this.#name = name
  }

  sheet({ width, height }: Room): Sheet {
    const server = this.#panel.scope.tapline.server(this.#name)
    const entries = this.#entries(server)
    const at = this.#selection.index(entries)
    const widest = Math.max(0, ...entries.map(({ label }) => columnsOf(label)))
    const labels = Math.min(LABEL_COLUMNS, widest, Math.max(10, Math.floor(width / 2) - 6))
    const keys = hintLines(
      [
        ['arrows', 'move'],
        ['confirm', 'open'],
        ['cancel', 'back'],
      ],
      this.#panel.keybindings,
      width,
    )
    return {
      head: [
        ...(server ? this.#head(server, width, height) : [titleLine(this.#name)]),
        ...noteLines(this.#panel.work.notes, width),
        BLANK,
        ...(server ? [] : [line('muted', ' This server is no longer configured.')]),
      ],
      rows: {
        count: entries.length,
        line: (index) => entryLine(entries[index]!, index === at, labels),
      },
      at: { selected: at },
      mostRows: MOST_ROWS,
      goodRows: MOST_ROWS,
      feet: [[BLANK, ...keys], keys],
    }
  }

  drawn(page: number): void {
    this.#selection.page = page
  }

  act(action: Action): void {
    const entries = this.#entries(this.#panel.scope.tapline.server(this.#name))
    if (this.#selection.move(action, entries)) return
    if (action === 'confirm') this.#selection.row(entries)?.run()
  }

  type(letter: string): void {
    this.#entries(this.#panel.scope.tapline.server(this.#name))
      .find(({ key }) => key === letter)
      ?.run()
  }

  #entries(server: Server | undefined): readonly Entry[] {
    if (!server) return []
    const sections = sectionsOf(this.#panel, server).map(({ open, ...section }): Entry => ({
      ...section,
      run: () => this.#panel.open(open()),
    }))
    const actions = serverActions(this.#panel, this.#name)
    // What helps comes first.
    const first = !server.spec.enabled || needsAttention(server) ? 1 : 0
    return [...actions.slice(0, first), ...sections, ...actions.slice(first)]
  }

  #head(server: Server, width: number, height: number): readonly Line[] {
    const { spec } = server
    const { toolbox, paths } = this.#panel.scope
    const { color, text } = standingOf(server, server.session.status, toolbox)
    const { reason, advice } = troubleOf(server)
    const roomy = height >= ROOM_FOR_REASON
    const wrapped = (shown: 'error' | 'warning', words: string, most: number): readonly Line[] =>
      words
        .split('\n')
        .flatMap((part) => wrap(part, width - 2, most))
        .slice(0, most)
        .map((part) => line(shown, ` ${part}`))
    return [
      titleLine(spec.name, { color, text: reason === undefined ? text : (text.split(':', 1)[0] ?? '') }),
      line('muted', ` ${transportText(spec, paths)}`),
      ...fileTexts(spec, paths).map((text) => line('muted', ` ${text}`)),
      ...(reason === undefined ? [] : wrapped('error', reason, roomy ? 8 : 2)),
      ...(advice === undefined ? [] : wrapped('warning', advice, roomy ? 4 : 2)),
    ]
  }
}

function entryLine({ key, label, detail }: Entry, isSelected: boolean, labels: number): Line {
  return [
    { color: 'accent', text: isSelected ? ' › ' : '   ' },
    { color: 'dim', text: `${key}  ` },
    { color: isSelected ? 'accent' : 'text', text: pad(fit(label, labels), labels + 2), bold: isSelected },
    { color: 'muted', text: detail },
  ]
}

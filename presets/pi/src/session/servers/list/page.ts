import type { Server } from '@tapline/headless'
import { wrap } from '../../screen/columns.ts'
import { type Hint, hintLines } from '../../screen/hints.ts'
import type { Action } from '../../screen/keys.ts'
import { BLANK, type Line, line } from '../../screen/line.ts'
import { Search, SEARCH_KEY } from '../../screen/search.ts'
import { Selection } from '../../screen/selection.ts'
import type { Sheet } from '../../screen/sheet.ts'
import { serverActions } from '../server-actions.ts'
import { byAttention, needsAttention } from '../order.ts'
import { type Page, type Panel, type Room, titleLine } from '../page.ts'
import { createServerPage } from '../server/page.ts'
import { standingOf } from '../standing.ts'
import { createTextPage } from '../text-page.ts'
import { pathText, sourceText } from '../words.ts'
import { noteLines } from '../work.ts'
import { serverDetails } from './details.ts'
import { problemLines, problemsAbove, problemsOf } from './problems.ts'
import { type ServerRow, tableFor } from './row.ts'

/** An event this young is news, in milliseconds. */
const FRESH_MS = 60_000
const REASON_ROWS = 3
const MOST_ROWS = 20
/** Below this height there is no room for the names of columns. */
const ROOM_FOR_HEAD = 20

interface Hints {
  readonly open: readonly Hint[]
  readonly actions: readonly Hint[]
  readonly others: readonly Hint[]
}

/** The list of servers: what needs somebody first. */
export function createListPage(panel: Panel): Page {
  return new ListPage(panel)
}

class ListPage implements Page {
  readonly #panel: Panel
  readonly #selection = new Selection<Server>(({ spec }) => spec.name)
  readonly #search = new Search()
  /** The server that a second `d` would disable. */
  #asked: string | undefined

  constructor(panel: Panel) {
    this.#panel = panel
  }

  sheet({ width, height }: Room): Sheet {
    const { work, scope } = this.#panel
    const servers = this.#servers()
    const at = this.#selection.index(servers)
    const rows = servers.map((server) => this.#rowOf(server))
    const table = tableFor(rows, width)
    const problems = problemsAbove(problemsOf(scope), { width, height })
    const head = [
      titleLine('MCP servers', { color: 'muted', text: summary(scope.tapline.servers) }),
      ...this.#search.lines(width),
      ...problems.lines,
      ...this.#question(),
      ...noteLines(work.notes, width),
      ...(height >= ROOM_FOR_HEAD && rows.length > 0 ? [table.head] : []),
      ...(rows.length === 0 ? this.#nothing(width) : []),
    ]
    return {
      head,
      rows: { count: rows.length, line: (index) => table.row(rows[index]!, index === at) },
      at: { selected: at },
      mostRows: MOST_ROWS,
      feet: this.#feet(servers[at], problems.isCut, width),
    }
  }

  drawn(page: number): void {
    this.#selection.page = page
  }

  act(action: Action): void {
    this.#asked = undefined
    const servers = this.#servers()
    if (this.#selection.move(action, servers)) return
    const server = this.#selection.row(servers)
    if (action === 'confirm' && server) this.#panel.open(createServerPage(this.#panel, server.spec.name))
  }

  type(letter: string): void {
    const asked = this.#asked
    this.#asked = undefined
    if (letter === SEARCH_KEY) return this.#search.begin()
    if (letter === 'p') return this.#openProblems()
    const server = this.#selection.row(this.#servers())
    if (!server) return
    // From a list, a slip of the finger ends no server.
    if (letter === 'd' && server.spec.enabled && asked !== server.spec.name) {
      this.#asked = server.spec.name
      return
    }
    serverActions(this.#panel, server.spec.name)
      .find(({ key }) => key === letter)
      ?.run()
  }

  take(data: string): boolean {
    if (!this.#search.take(data, this.#panel.keybindings)) return false
    this.#selection.narrow(this.#servers())
    return true
  }

  #servers(): readonly Server[] {
    const { servers } = this.#panel.scope.tapline
    return byAttention(servers.filter((server) => this.#search.fits(searched(server))))
  }

  #rowOf(server: Server): ServerRow {
    const { spec } = server
    const { status } = server.session
    const { toolbox, tapline } = this.#panel.scope
    const book = tapline.pipeline.book(spec.name)
    const isFresh = book.lastEventAt !== undefined && Date.now() - book.lastEventAt < FRESH_MS
    return {
      name: spec.name,
      standing: standingOf(server, status, toolbox),
      exposure: spec.exposure,
      source: sourceText(spec),
      era: status.era ?? '',
      pushes: {
        text: book.received === 0 ? '' : `${book.received}${isFresh ? ' ↓' : ''}`,
        news: book.lastError === undefined ? (isFresh ? 'fresh' : 'none') : 'trouble',
      },
    }
  }

  #question(): readonly Line[] {
    if (this.#asked === undefined) return []
    return [line('warning', ` Disable ${this.#asked}? d again: yes. Any other key: no.`)]
  }

  #nothing(width: number): readonly Line[] {
    const { paths, tapline } = this.#panel.scope
    const text =
      tapline.servers.length > 0
        ? 'No server fits that.'
        : `No MCP servers are configured. Add one in a shell with "pi mcp add", or write it into ${pathText(paths.agentDir, paths)}/mcp.json or .pi/mcp.json; then /mcp reload.`
    return [BLANK, ...wrap(text, width - 2, 5).map((part) => line('muted', ` ${part}`))]
  }

  #feet(server: Server | undefined, hasMoreProblems: boolean, width: number): Sheet['feet'] {
    const hints = this.#hints(server, hasMoreProblems)
    const keys = hintLines([...hints.open, ...hints.actions, ...hints.others], this.#panel.keybindings, width)
    // What can be done is also on the page of the server; how to leave is nowhere else.
    const few = hintLines([...hints.open, ...hints.others], this.#panel.keybindings, width).slice(0, 1)
    if (!server) return [[BLANK, ...keys], few]
    const details = serverDetails(server, this.#panel.scope, width, REASON_ROWS)
    const short = serverDetails(server, this.#panel.scope, width, 1)
    return [
      [BLANK, ...details, BLANK, ...keys],
      [BLANK, ...details, ...keys],
      [...short, ...keys],
      [...short.slice(0, 1), ...few],
      few,
    ]
  }

  #hints(server: Server | undefined, hasMoreProblems: boolean): Hints {
    if (this.#search.isOpen) {
      const open: readonly Hint[] = server
        ? [
            ['arrows', 'move'],
            ['confirm', 'open'],
          ]
        : []
      return { open, actions: [], others: [['cancel', 'show all']] }
    }
    const problems: readonly Hint[] = hasMoreProblems ? [['p', 'problems']] : []
    if (!server) return { open: [], actions: [], others: [...problems, ['cancel', 'close']] }
    return {
      open: [['confirm', 'open']],
      actions: serverActions(this.#panel, server.spec.name).flatMap(({ key, short }): readonly Hint[] =>
        short === undefined ? [] : [[key, short]],
      ),
      others: [[SEARCH_KEY, 'find'], ...problems, ['cancel', 'close']],
    }
  }

  #openProblems(): void {
    const { scope } = this.#panel
    if (problemsOf(scope).length === 0) return
    this.#panel.open(
      createTextPage(this.#panel, {
        title: 'Problems',
        empty: 'There is nothing wrong any more.',
        lines: ({ width }) => problemsOf(scope).flatMap((problem) => problemLines(problem, width, Infinity)),
      }),
    )
  }
}

/** `4 of 7 connected, 2 need attention`. */
function summary(servers: readonly Server[]): string {
  if (servers.length === 0) return ''
  const enabled = servers.filter(({ spec }) => spec.enabled)
  const connected = enabled.filter(({ session }) => session.status.state === 'connected').length
  const waiting = enabled.filter(needsAttention).length
  return [
    `${connected} of ${enabled.length} connected`,
    ...(waiting === 0 ? [] : [`${waiting} ${waiting === 1 ? 'needs' : 'need'} attention`]),
  ].join(', ')
}

/** What of a server can be found by typing. */
function searched({ spec, session }: Server): string {
  return [spec.name, spec.enabled ? session.status.state : 'disabled', spec.exposure, sourceText(spec)].join(
    ' ',
  )
}

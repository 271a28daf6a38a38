import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { messageOf } from '@tapline/core'
import { actionOf, type Keybindings, letterOf } from '../screen/keys.ts'
import { line, paint, type Theme } from '../screen/line.ts'
import { type Drawn, drawSheet } from '../screen/sheet.ts'
import type { CommandScope } from '../commands/command.ts'
import type { Page, Panel } from './page.ts'
import { KnownSignIns } from './sign-in/known.ts'
import { type Note, Work } from './work.ts'

/** Servers change by themselves: what would be drawn otherwise is drawn within this time, in milliseconds. */
const LOOK_MS = 250

/** The terminal around a panel. */
export interface Screen {
  readonly theme: Theme
  readonly keybindings: Keybindings
  /** Rows of the whole terminal. */
  rows(): number
  requestRender(): void
  write(sequence: string): void
  /** The panel is done with. */
  done(): void
}

/** The pages that are open, one on top of the other, and what is typed to the one on top. */
export class ServersPanel implements Panel {
  readonly scope: CommandScope
  readonly keybindings: Keybindings
  readonly isProjectTrusted: boolean
  readonly work: Work
  readonly signIns: KnownSignIns
  readonly #screen: Screen
  readonly #tell: (note: Note) => void
  readonly #pages: Page[] = []
  readonly #timer: NodeJS.Timeout
  /** What the terminal shows, and for which width. */
  #shown: { readonly width: number; readonly lines: readonly string[] } | undefined
  #state: 'open' | 'left' | 'ended' = 'open'

  /** `tell` is for what came of something after the panel was left. */
  constructor(
    scope: CommandScope,
    screen: Screen,
    ctx: Pick<ExtensionCommandContext, 'isProjectTrusted'>,
    tell: (note: Note) => void,
  ) {
    this.scope = scope
    this.keybindings = screen.keybindings
    this.isProjectTrusted = ctx.isProjectTrusted()
    this.#screen = screen
    this.#tell = tell
    this.work = new Work((note) => this.#told(note))
    this.signIns = new KnownSignIns(scope.tapline, () => this.redraw())
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  open(page: Page): void {
    if (this.#state !== 'open') return page.close?.()
    this.work.forget()
    this.#pages.push(page)
    this.redraw()
  }

  back(): void {
    this.#pages.pop()?.close?.()
    this.work.forget()
    if (this.#pages.length > 0) return this.redraw()
    this.#state = 'left'
    this.#screen.done()
  }

  leave(page: Page): void {
    if (this.#pages.at(-1) !== page) return
    this.#pages.pop()
    page.close?.()
    this.redraw()
  }

  redraw(): void {
    if (this.#state === 'open') this.#screen.requestRender()
  }

  copy(text: string): void {
    this.#screen.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
  }

  render(width: number): string[] {
    const { lines } = this.#draw(width)
    this.#shown = { width, lines }
    return [...lines]
  }

  handle(data: string): void {
    const page = this.#pages.at(-1)
    if (!page || this.#state !== 'open') return
    try {
      this.#press(page, data)
    } catch (thrown) {
      // Whatever escaped from here would end pi.
      this.work.fail(messageOf(thrown))
    }
    this.redraw()
  }

  /** pi has taken it away: because it is done, or because the session has ended. */
  dispose(): void {
    clearInterval(this.#timer)
    if (this.#state === 'open') this.#state = 'ended'
    for (const page of this.#pages.splice(0).toReversed()) page.close?.()
  }

  #press(page: Page, data: string): void {
    if (page.take?.(data)) return
    const action = actionOf(data, this.keybindings)
    if (action === 'cancel') this.back()
    else if (action) page.act(action)
    else page.type(letterOf(data))
  }

  #draw(width: number): Drawn {
    const page = this.#pages.at(-1)
    if (!page) return { lines: [], page: 1 }
    const { theme } = this.#screen
    try {
      const height = this.#screen.rows()
      const drawn = drawSheet(page.sheet({ width, height }), theme, width, height)
      page.drawn(drawn.page)
      return drawn
    } catch (thrown) {
      return { lines: [paint(line('error', ` ${messageOf(thrown)}`), theme, width)], page: 1 }
    }
  }

  /** However much happens, the terminal is written to only when there is something else to see. */
  #look(): void {
    if (this.#state !== 'open' || !this.#shown) return
    const { width, lines } = this.#shown
    const now = this.#draw(width).lines
    if (now.length !== lines.length || now.some((text, index) => text !== lines[index])) this.redraw()
  }

  #told(note: Note): void {
    if (this.#state === 'left' && note.tone !== 'running') this.#tell(note)
    else this.redraw()
  }
}

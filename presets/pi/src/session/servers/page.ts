import type { Action, Keybindings } from '../screen/keys.ts'
import type { Line } from '../screen/line.ts'
import type { Sheet } from '../screen/sheet.ts'
import type { CommandScope } from '../commands/command.ts'
import type { KnownSignIns } from './sign-in/known.ts'
import type { Work } from './work.ts'

/** The room that a page is drawn in, in columns and rows. */
export interface Room {
  readonly width: number
  readonly height: number
}

/** One page of the panel. */
export interface Page {
  /** As it is now. Asked for several times a second: it looks, and does nothing. */
  sheet(room: Room): Sheet
  /** It was drawn, with room for so many rows. */
  drawn(page: number): void
  /** A key with a meaning of its own; leaving a page is not its business. */
  act(action: Action): void
  /** A letter. */
  type(letter: string): void
  /** Takes whatever comes while something is typed into it; answers whether it did. */
  take?(data: string): boolean
  /** It is left: nothing of it goes on. */
  close?(): void
}

/** What pages stand on. */
export interface Panel {
  readonly scope: CommandScope
  readonly keybindings: Keybindings
  /** Changes that run while the panel is used. */
  readonly work: Work
  readonly signIns: KnownSignIns
  /** Whether pi trusts the project: without it, nothing is saved there. */
  readonly isProjectTrusted: boolean
  open(page: Page): void
  /** Leaves the page on top; the last one ends the panel. */
  back(): void
  /** Leaves this page, if it is the one on top. */
  leave(page: Page): void
  /** Something is to be seen. */
  redraw(): void
  /** Hands a text to the clipboard of the terminal, which may be on another machine. */
  copy(text: string): void
}

/** ` hub  connected · 3 tools`. */
export function titleLine(title: string, ...more: Line): Line {
  return [
    { color: 'accent', text: ` ${title}`, bold: true },
    ...more.map((span, index) => (index === 0 ? { ...span, text: `  ${span.text}` } : span)),
  ]
}

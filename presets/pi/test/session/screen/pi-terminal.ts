import { createRequire, findPackageJSON } from 'node:module'
import * as fc from 'fast-check'
import type { Keybindings } from '../../../src/session/screen/keys.ts'
import type { Theme } from '../../../src/session/screen/line.ts'

// pi measures every line with this, and ends when one is too wide. It is pi's dependency, not ours.
const piRequire = createRequire(findPackageJSON('@earendil-works/pi-coding-agent', import.meta.url) ?? '')
const { visibleWidth, KeybindingsManager, Text, TUI_KEYBINDINGS } = piRequire('@earendil-works/pi-tui') as {
  visibleWidth(text: string): number
  readonly Text: new (text: string, left: number, top: number) => { render(width: number): string[] }
  readonly KeybindingsManager: new (definitions: object, own?: object) => Keybindings
  readonly TUI_KEYBINDINGS: object
}

export { visibleWidth }

/** A text as pi's dialogs draw it: broken where it is too long, within one column on either side. */
export function drawnByPi(text: string, width: number): readonly string[] {
  return new Text(text, 1, 0).render(width).map((line) => plain(line).trimEnd())
}

/** pi's keys, with these in the place of some. */
export function piKeys(own: Readonly<Record<string, string | string[]>> = {}): Keybindings {
  const copy = { 'app.message.copy': { defaultKeys: 'ctrl+x', description: 'Copy' } }
  return new KeybindingsManager({ ...TUI_KEYBINDINGS, ...copy }, own)
}

/** What keys send. */
export const KEYS = {
  up: '\u001B[A',
  down: '\u001B[B',
  pageUp: '\u001B[5~',
  pageDown: '\u001B[6~',
  home: '\u001B[H',
  end: '\u001B[F',
  left: '\u001B[D',
  right: '\u001B[C',
  enter: '\r',
  escape: '\u001B',
  tab: '\t',
  backspace: '\u007F',
  copy: '\u0018',
} as const

/** A theme that colours everything, as one line of a terminal would have it. */
export const theme = {
  fg: (color: string, text: string) => `\u001B[3${color.length % 8}m${text}\u001B[39m`,
  bold: (text: string) => `\u001B[1m${text}\u001B[22m`,
  inverse: (text: string) => `\u001B[7m${text}\u001B[27m`,
} as unknown as Theme

/** A line without its colours and links. */
export function plain(line: string): string {
  // oxlint-disable-next-line no-control-regex -- colours are what this removes.
  return line.replaceAll(/\u001B\[\d+m|\u001B\]8;;[^\u001B]*\u001B\\/g, '')
}

/** What no line may hold: it would steer the terminal, or hide what is there. */
// oxlint-disable-next-line no-control-regex -- that is what must not be there.
export const STEERING = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/

/** Text of every script, wide and narrow, with emoji, marks, joiners, control and escape sequences. */
export const foreign = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.lorem(),
  fc
    .array(
      fc.constantFrom(
        '日本',
        'é',
        '👩‍👩‍👧',
        '🇩🇪',
        'ก็',
        'ﷺ',
        '1️⃣',
        'क्षि',
        '한',
        '⌚',
        '↔️',
        ' ',
        'a',
        '\n',
        '\t',
        '\r',
        '\u001B[31m',
        '\u001B]0;x\u0007',
        '\u202E',
        '\u0000',
        '\uD800',
        '\u009B2J',
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join('')),
)

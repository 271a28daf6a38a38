import { cleanLines } from '@tapline/core'
import { columnsOf } from './columns.ts'
import { type Binding, type Keybindings, letterOf } from './keys.ts'
import type { Line } from './line.ts'

const PASTE = '\u001B[200~'
const PASTE_END = '\u001B[201~'
/** Nobody types more; an address that somebody was sent to may be long. */
const LONGEST = 16_384

const segmenter = new Intl.Segmenter()

type Edit = (before: readonly string[], after: readonly string[]) => readonly [string[], string[]]

/** What editing keys make of the characters before the cursor and after it. */
const EDITS: readonly (readonly [Binding, Edit])[] = [
  ['tui.editor.cursorLeft', (before, after) => [before.slice(0, -1), [...before.slice(-1), ...after]]],
  ['tui.editor.cursorRight', (before, after) => [[...before, ...after.slice(0, 1)], after.slice(1)]],
  ['tui.editor.cursorLineStart', (before, after) => [[], [...before, ...after]]],
  ['tui.editor.cursorLineEnd', (before, after) => [[...before, ...after], []]],
  ['tui.editor.deleteCharBackward', (before, after) => [before.slice(0, -1), [...after]]],
  ['tui.editor.deleteCharForward', (before, after) => [[...before], after.slice(1)]],
  ['tui.editor.deleteToLineStart', (_before, after) => [[], [...after]]],
  ['tui.editor.deleteToLineEnd', (before) => [[...before], []]],
  ['tui.editor.deleteWordBackward', (before, after) => [withoutWord(before), [...after]]],
]

/** One line that somebody types or pastes. */
export class Field {
  #before: readonly string[] = []
  #after: readonly string[] = []
  #paste: string | undefined

  get value(): string {
    return [...this.#before, ...this.#after].join('')
  }

  clear(): void {
    this.#before = []
    this.#after = []
  }

  /** Takes what came from the terminal; answers false for a key that means nothing here. */
  take(data: string, keybindings: Keybindings): boolean {
    if (this.#paste !== undefined || data.includes(PASTE)) {
      this.#takePaste(data, keybindings)
      return true
    }
    for (const [binding, edit] of EDITS) {
      if (!keybindings.matches(data, binding)) continue
      ;[this.#before, this.#after] = edit(this.#before, this.#after)
      return true
    }
    const typed = letterOf(data)
    if (typed === '' || /\p{Cc}/u.test(typed)) return false
    this.#insert(typed)
    return true
  }

  /** The end of what is before the cursor, the cursor, and what follows it, in so many columns. */
  line(columns: number): Line {
    const under = this.#after[0] ?? ' '
    const room = Math.max(0, columns - columnsOf(under))
    let from = this.#before.length
    let used = 0
    while (from > 0 && used + columnsOf(this.#before[from - 1] ?? '') <= room)
      used += columnsOf(this.#before[--from] ?? '')
    return [
      { color: 'text', text: this.#before.slice(from).join('') },
      { color: 'text', text: under, inverse: true },
      { color: 'text', text: this.#after.slice(1).join('') },
    ]
  }

  /** A paste comes between two marks, and may come in pieces. */
  #takePaste(data: string, keybindings: Keybindings): void {
    const begin = this.#paste === undefined ? data.indexOf(PASTE) : -1
    const text = (this.#paste ?? '') + (begin < 0 ? data : data.slice(begin + PASTE.length))
    const end = text.indexOf(PASTE_END)
    if (end < 0) {
      this.#paste = text.slice(0, 4 * LONGEST)
      return
    }
    this.#paste = undefined
    this.#insert(cleanLines(text.slice(0, end)).replaceAll(/\s+/g, ' ').trim())
    const rest = text.slice(end + PASTE_END.length)
    if (rest !== '') this.take(rest, keybindings)
  }

  #insert(text: string): void {
    if (this.#before.length + this.#after.length + text.length > LONGEST) return
    this.#before = [...this.#before, ...Array.from(segmenter.segment(text), ({ segment }) => segment)]
  }
}

function withoutWord(characters: readonly string[]): string[] {
  const text = characters.join('').replace(/[^\s/.:?&=_-]*[\s/.:?&=_-]*$/u, '')
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

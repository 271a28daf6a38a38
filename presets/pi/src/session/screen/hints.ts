import { columnsOf } from './columns.ts'
import { type Action, type Keybindings, keyName } from './keys.ts'
import type { Line, Span } from './line.ts'

/** A key, by its meaning or by its letter, and what it does. */
export type Hint = readonly [key: Action | 'arrows' | (string & {}), does: string]

const ACTIONS: ReadonlySet<string> = new Set<Action>(['confirm', 'cancel', 'tab'])
const BETWEEN: Span = { color: 'dim', text: ' · ' }
const MARGIN: Span = { color: 'dim', text: ' ' }

/** What keys do, in as few lines as there is room for. */
export function hintLines(hints: readonly Hint[], keybindings: Keybindings, width: number): readonly Line[] {
  const lines: Span[][] = []
  let used = width
  for (const [key, does] of hints) {
    const spans = hint(nameOf(key, keybindings), does)
    const own = spans.reduce((sum, { text }) => sum + columnsOf(text), 0)
    if (used + BETWEEN.text.length + own > width) {
      lines.push([MARGIN, ...spans])
      used = MARGIN.text.length + own
      continue
    }
    lines.at(-1)?.push(BETWEEN, ...spans)
    used += BETWEEN.text.length + own
  }
  return lines
}

function nameOf(key: Hint[0], keybindings: Keybindings): string {
  if (key === 'arrows') return '↑↓'
  return ACTIONS.has(key) ? keyName(keybindings, key as Action) : key
}

function hint(key: string, does: string): readonly Span[] {
  return [
    { color: 'dim', text: key },
    { color: 'muted', text: ` ${does}` },
  ]
}

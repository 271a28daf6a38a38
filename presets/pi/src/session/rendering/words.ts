import { columnsOf, pieces } from '../screen/columns.ts'

/* A resumed session is drawn before anything else is loaded, and core alone takes longer than all of this: what its
   cleanLines does is done here too. Linear on hostile text. */
/* oxlint-disable no-control-regex -- control characters are what this removes. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\u2060-\u206F\u{E0000}-\u{E007F}]/gu

/** Text from anywhere as it may stand in a terminal: lines stay, a tab is three blanks, as in pi's other tools. */
export function drawable(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPES, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', '   ')
    .replace(UNSEEN, '')
}

/** The same on one line. */
export function drawableLine(text: string): string {
  return drawable(text).replaceAll('\n', ' ')
}

/** A piece of one line in one style. */
export interface Span {
  readonly text: string
  readonly style: (text: string) => string
}

/**
 * The lines of a text that is one line, none wider than `width`: broken between words, and within a word that is wider
 * than that. Blanks stay where they are, but at the end of a line.
 */
export function broken(spans: readonly Span[], width: number): readonly string[] {
  const lines: string[] = []
  let line: Span[] = []
  let columns = 0
  const end = (): void => {
    lines.push(styled(line))
    line = []
    columns = 0
  }
  for (const { text, style } of spans) {
    for (const word of text.match(/\s+|\S+/g) ?? []) {
      const isBlank = /^\s/.test(word)
      const parts = isBlank ? [word] : pieces(word, Math.max(1, width))
      for (const piece of parts) {
        const own = columnsOf(piece)
        if (columns > 0 && columns + own > width) {
          end()
          // A line does not begin with the blank that it was broken at.
          if (isBlank) continue
        }
        line.push({ text: piece, style })
        columns += own
      }
    }
  }
  end()
  return lines
}

/** One run of escape sequences for what stands side by side in one style. */
function styled(line: readonly Span[]): string {
  const runs: { text: string; style: Span['style'] }[] = []
  for (const { text, style } of line) {
    const last = runs.at(-1)
    if (last?.style === style) last.text += text
    else runs.push({ text, style })
  }
  const last = runs.at(-1)
  if (last) last.text = last.text.trimEnd()
  return runs.map(({ text, style }) => (text === '' ? '' : style(text))).join('')
}

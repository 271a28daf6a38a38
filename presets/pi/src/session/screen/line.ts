import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanLines } from '@tapline/core'
import { columnsOf, fit, pad } from './columns.ts'

/** pi's theme: every colour comes from it. */
export type Theme = ExtensionContext['ui']['theme']
/** A colour by what it is for. */
export type Color = Parameters<Theme['fg']>[0]

/** Text of one colour. */
export interface Span {
  readonly color: Color
  /** May be anything: what could steer the terminal is taken out when it is painted. */
  readonly text: string
  readonly bold?: boolean
  /** Background and foreground change places: a cursor. */
  readonly inverse?: boolean
  /** An address that terminals open with a click. */
  readonly link?: string
}

/** One line of a screen; it is cut where the terminal ends. */
export type Line = readonly Span[]

/** A line of one colour. */
export function line(color: Color, text: string): Line {
  return [{ color, text }]
}

/** A line with nothing on it. */
export const BLANK: Line = []

const LINKABLE = /^https?:\/\/[\x21-\x7e]+$/

/** The line for a terminal of this width. pi ends when a line is wider, so every line of a screen comes through here. */
export function paint(spans: Line, theme: Theme, width: number): string {
  let painted = ''
  let room = width
  for (const span of spans) {
    if (room < 1) break
    const shown = within(onOneLine(span.text), room)
    if (shown === '') continue
    room -= columnsOf(shown)
    painted += styled(shown, span, theme)
  }
  return painted
}

/** What was only padded is not cut. */
function within(text: string, room: number): string {
  return columnsOf(text) <= room ? text : pad(fit(text.trimEnd(), room), room)
}

function styled(text: string, { color, bold, inverse, link }: Span, theme: Theme): string {
  const coloured = theme.fg(color, text)
  const weighted = bold ? theme.bold(coloured) : coloured
  return linked(inverse ? theme.inverse(weighted) : weighted, link)
}

/** A tab takes more columns than it counts. */
function onOneLine(text: string): string {
  return cleanLines(text).replaceAll(/[\n\t]/g, ' ')
}

function linked(text: string, link: string | undefined): string {
  if (link === undefined || !LINKABLE.test(link)) return text
  return `\u001B]8;;${link}\u001B\\${text}\u001B]8;;\u001B\\`
}

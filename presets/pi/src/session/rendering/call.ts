import type { Theme } from '@earendil-works/pi-coding-agent'
import { Block, type Component } from './block.ts'
import { broken, drawable, drawableLine, type Span } from './words.ts'

/** Arguments beside the title are cut to so many characters. */
const LONGEST_ARGUMENTS = 100

/** What is known of a call that is drawn. */
export interface CallContext {
  readonly expanded: boolean
  readonly lastComponent: Component | undefined
}

/** The title with the arguments behind it; expanded, each argument has lines of its own. */
export function drawCall(
  title: string,
  args: unknown,
  theme: Pick<Theme, 'fg' | 'bold'>,
  { expanded, lastComponent }: CallContext,
): Component {
  const bold = (text: string): string => theme.fg('toolTitle', theme.bold(text))
  const muted = (text: string): string => theme.fg('muted', text)
  const head: Span = { text: drawableLine(title), style: bold }
  const given = argumentsOf(args)
  const behind = expanded || given.length === 0 ? [] : [{ text: ` ${pairsText(given)}`, style: muted }]
  const below = expanded ? given.flatMap(linesOf) : []
  return Block.of(lastComponent, (width) => [
    ...broken([head, ...behind], width),
    ...below.flatMap((text) => broken([{ text, style: muted }], width)),
  ])
}

/** Arguments that are no object, which a model may send, stand under a name of ours. */
function argumentsOf(args: unknown): readonly (readonly [string, unknown])[] {
  if (args === undefined || args === null) return []
  return typeof args === 'object' && !Array.isArray(args) ? Object.entries(args) : [['args', args]]
}

function pairsText(given: readonly (readonly [string, unknown])[]): string {
  const text = drawableLine(given.map(([key, value]) => `${key}=${json(value)}`).join(' '))
  if (text.length <= LONGEST_ARGUMENTS) return text
  return `${text.slice(0, LONGEST_ARGUMENTS - 3).toWellFormed()}...`
}

function linesOf([key, value]: readonly [string, unknown]): readonly string[] {
  const text = typeof value === 'string' ? value : json(value, 2)
  const [first = '', ...rest] = drawable(text).split('\n')
  return [`  ${drawableLine(key)}: ${first}`, ...rest.map((line) => `    ${line}`)]
}

function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? String(value)
}

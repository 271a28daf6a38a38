import type { AgentToolResult, KeybindingHints, Theme } from '@earendil-works/pi-coding-agent'
import { columnsOf, fit } from '../screen/columns.ts'
import { Block, type Component } from './block.ts'
import { imageText } from './image.ts'
import { broken, drawable, drawableLine } from './words.ts'

/** Lines of a result that are shown until it is expanded, as the terminal breaks them: many are one long line of JSON. */
const PREVIEW_LINES = 5

/** What is known of a result that is drawn. */
export interface ResultContext extends Pick<KeybindingHints, 'keyText' | 'keyHint'> {
  readonly isError: boolean
  readonly lastComponent: Component | undefined
}

type Result = Pick<AgentToolResult<unknown>, 'content' | 'details'>

/** The text of a result below its call: all of it, or the first lines and where the rest is. Images are drawn by pi. */
export function drawResult(
  { content, details }: Result,
  expanded: boolean,
  theme: Pick<Theme, 'fg'>,
  { isError, lastComponent, keyText, keyHint }: ResultContext,
): Component {
  const text = textOf(content)
  if (text === '') return Block.of(lastComponent, () => [])
  const style = (line: string): string => theme.fg(isError ? 'error' : 'toolOutput', line)
  const muted = (line: string): string => theme.fg('muted', line)
  const lines = text.split('\n')
  const drawn = (width: number): readonly string[] =>
    lines.flatMap((line) => broken([{ text: line, style }], width))
  if (expanded) return Block.of(lastComponent, (width) => ['', ...drawn(width)])

  const expandKey = keyText('app.tools.expand')
  const expandHint = keyHint('app.tools.expand', 'to expand')
  const path = (details as { readonly fullOutputPath?: unknown } | undefined)?.fullOutputPath
  const whole =
    typeof path === 'string' ? [{ text: drawableLine(`Full output: ${path}`), style: muted }] : undefined
  return Block.of(lastComponent, (width) => {
    const all = drawn(width)
    const hidden = all.length - PREVIEW_LINES
    const count = `... (${hidden} more lines,`
    const plain = `${count} ${expandKey} to expand)`
    const hint =
      columnsOf(plain) <= width ? `${muted(count)} ${expandHint}${muted(')')}` : muted(fit(plain, width))
    return [
      '',
      ...all.slice(0, PREVIEW_LINES),
      ...(hidden > 0 ? [hint] : []),
      ...(whole ? broken(whole, width) : []),
    ]
  })
}

/** Texts one below the other, then what images there are. */
function textOf(content: Result['content']): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? [drawable(block.text)] : []))
  const images = content.flatMap((block) => (block.type === 'image' ? [imageText(block)] : []))
  return [...(texts.length > 0 ? [texts.join('\n')] : []), ...images].join('\n').trim()
}

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { inColumns } from '../dialogs/marks.ts'
import { type Hint, hintLines } from '../screen/hints.ts'
import { actionOf, letterOf } from '../screen/keys.ts'
import { BLANK, type Line, line } from '../screen/line.ts'
import { Position } from '../screen/position.ts'
import { drawSheet } from '../screen/sheet.ts'
import { showScreen } from '../screen/showing.ts'

const MOST_LINES = 12
const MOST_ROWS = 10
const HINTS: readonly Hint[] = [
  ['arrows', 'navigate'],
  ['space', 'tick'],
  ['confirm', 'done'],
  ['cancel', 'cancel'],
]

/**
 * Has the person tick some of these, in a list that stays while it is done. Answers the places that are ticked;
 * undefined when it is left, or `over` aborts.
 */
export function tickOff(
  ctx: Pick<ExtensionContext, 'ui'>,
  lines: readonly string[],
  options: readonly string[],
  ticked: ReadonlySet<number>,
  over: AbortSignal,
): Promise<ReadonlySet<number> | undefined> {
  return showScreen<ReadonlySet<number> | undefined>(ctx, (tui, theme, keybindings, done) => {
    const on = new Set(ticked)
    const position = new Position()
    const end = (): void => done(undefined)
    if (over.aborted) queueMicrotask(end)
    over.addEventListener('abort', end, { once: true })
    const row = (place: number): Line => {
      const isSelected = place === position.index
      const text = `${isSelected ? '→' : ' '} [${on.has(place) ? 'x' : ' '}] ${options[place] ?? ''}`
      return line(isSelected ? 'accent' : 'text', ` ${text}`)
    }
    return {
      render: (width) => {
        const head = lines.flatMap((text) =>
          inColumns(text, width - 2, MOST_LINES).map((part) => line('accent', ` ${part}`)),
        )
        const hints = hintLines(HINTS, keybindings, width)
        const sheet = {
          // Some may be ticked that nobody has looked at.
          head: [
            ...head,
            options.length > MOST_ROWS ? line('dim', ` ${on.size} of ${options.length} ticked`) : BLANK,
          ],
          rows: { count: options.length, line: row },
          at: { selected: position.index },
          mostRows: MOST_ROWS,
          feet: [[BLANK, ...hints], hints],
        }
        const drawn = drawSheet(sheet, theme, width, tui.terminal.rows)
        position.page = drawn.page
        return [...drawn.lines]
      },
      handle: (data) => {
        const action = actionOf(data, keybindings)
        if (action === 'cancel') end()
        else if (action === 'confirm') done(on)
        else if (letterOf(data) === ' ') toggle(on, position.index)
        else if (action) position.move(action, options.length)
        tui.requestRender()
      },
      dispose: () => over.removeEventListener('abort', end),
    }
  })
}

/** Puts something in, or takes it out where it is. */
export function toggle<Value>(set: Set<Value>, value: Value): void {
  if (!set.delete(value)) set.add(value)
}

import { cleanText } from '@tapline/core'
import { wrap } from '../../screen/columns.ts'
import { type Line, line } from '../../screen/line.ts'
import type { CommandScope } from '../../commands/command.ts'
import type { Room } from '../page.ts'
import { count } from '../words.ts'

/** Something that is wrong with a file, a plugin or a tool. */
export interface Problem {
  readonly isSerious: boolean
  readonly text: string
}

const LONGEST = 1_000
/** Problems above the list, and the rows that each may take there. */
const MOST_ABOVE = 3
const ROWS_ABOVE = 3
/** Below this height the list needs the rows itself; of what is above these, problems have a quarter. */
const ROOM_FOR_WORDS = 18
const ROOM_FOR_LIST = 12

/** What is wrong now, nothing twice, what is serious first. */
export function problemsOf({
  tapline,
  toolbox,
}: Pick<CommandScope, 'tapline' | 'toolbox'>): readonly Problem[] {
  const found = new Map<string, boolean>()
  for (const { severity, message } of tapline.diagnostics) found.set(message, severity !== 'info')
  for (const message of toolbox.problems) found.set(message, true)
  return Array.from(found, ([text, isSerious]) => ({ isSerious, text: cleanText(text, LONGEST) })).toSorted(
    (a, b) => Number(b.isSerious) - Number(a.isSerious),
  )
}

/** Problems above the list of servers, and whether there is more to read of them. */
export interface ProblemsAbove {
  readonly lines: readonly Line[]
  readonly isCut: boolean
}

/** The serious ones, as far as there is room above the list of servers; how many there are where there is little. */
export function problemsAbove(problems: readonly Problem[], { width, height }: Room): ProblemsAbove {
  const serious = problems.filter(({ isSerious }) => isSerious)
  if (height < ROOM_FOR_WORDS && serious.length > 0)
    return { lines: [line('warning', ` ! ${count(serious.length, 'problem')}`)], isCut: true }
  const room = Math.floor((height - ROOM_FOR_LIST) / 4)
  const lines: Line[] = []
  let [shown, isCut] = [0, false]
  for (const problem of serious.slice(0, MOST_ABOVE)) {
    const whole = problemLines(problem, width, Infinity)
    const own = problemLines(problem, width, ROWS_ABOVE)
    if (shown > 0 && lines.length + own.length > room) break
    lines.push(...own)
    shown += 1
    isCut ||= whole.length > own.length
  }
  const rest = serious.length - shown
  return {
    lines: rest === 0 ? lines : [...lines, line('warning', `   and ${rest} more`)],
    isCut: isCut || shown < problems.length,
  }
}

/** One of them, whole or as far as there is room. */
export function problemLines({ isSerious, text }: Problem, width: number, most: number): readonly Line[] {
  return wrap(text, width - 4, most).map((part, index) =>
    line(isSerious ? 'warning' : 'muted', ` ${index === 0 ? (isSerious ? '!' : '·') : ' '} ${part}`),
  )
}

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { onTestFinished } from 'vitest'
import type { ApprovalOptions } from '../../../src/session/approvals.ts'
import { drawnByPi } from '../screen/pi-terminal.ts'

/** What pi draws above the options beside what is said, what below them, its footer, and the least of the chat. */
const [ABOVE, BELOW, FOOTER, CHAT] = [3, 4, 3, 1]

/** A dialog as it was on the screen, line by line. */
export interface Drawn {
  readonly said: readonly string[]
  readonly options: readonly string[]
  /** Whether every option was above the edge of the terminal. */
  readonly isWhole: boolean
}

/** pi's dialogs in a terminal of this size; a list is answered with the option that begins like this, else read on. */
export function screenOf(columns: number, rows: number, answer?: string) {
  const before = { columns: process.stdout.columns, rows: process.stdout.rows }
  Object.assign(process.stdout, { columns, rows })
  onTestFinished(() => void Object.assign(process.stdout, before))
  const shown: Drawn[] = []
  const relays: unknown[] = []
  const draw = (title: string, options: readonly string[], how: ApprovalOptions = {}): void => {
    const said = drawnByPi(title, columns)
    const drawn = options.flatMap((option) => drawnByPi(`  ${option}`, columns))
    const upTo = ABOVE + said.length + Math.max(1, drawn.length)
    // What is too much is taken from the end of the dialog and of the footer, in proportion to their heights.
    const excess = Math.max(0, upTo + BELOW + FOOTER - (rows - CHAT))
    const isWhole = Math.round((excess * (upTo + BELOW)) / (upTo + BELOW + FOOTER)) <= BELOW
    shown.push({ said, options: drawn.map((line) => line.trim()), isWhole })
    relays.push(how.relay)
  }
  const ui = {
    select: async (title: string, options: string[], how?: ApprovalOptions) => {
      draw(title, options, how)
      if (shown.length > 500) throw new Error('there is no end to it')
      return options.find((option) => answer !== undefined && option.startsWith(answer)) ?? options[0]
    },
    input: async (title: string, _placeholder: string | undefined, how?: ApprovalOptions) => (
      draw(title, [], how),
      'typed'
    ),
    confirm: async () => {
      throw new Error('its yes would come first')
    },
    notify: () => undefined,
  }
  return { ctx: { ui, mode: 'tui', hasUI: true } as unknown as ExtensionContext, shown, relays }
}

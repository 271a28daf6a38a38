import { serverLogPath } from '@tapline/headless'
import { wrap } from '../../screen/columns.ts'
import type { Line } from '../../screen/line.ts'
import type { Page, Panel } from '../page.ts'
import { createTextPage } from '../text-page.ts'
import { pathText } from '../words.ts'
import { type Message, Messages } from './messages.ts'
import { Tail } from './tail.ts'

/** What is added to the log is shown within this time, in milliseconds. */
const LOOK_MS = 300
const MOST_ROWS = 20
const BEFORE = ' 00:00:00  '.length

/** What a server logs, as it comes; only while the page is open. */
export function createLogPage(panel: Panel, name: string): Page {
  const { paths } = panel.scope
  const path = serverLogPath(paths.agentDir)
  const messages = new Messages(name)
  const tail = new Tail(path, (lines) => messages.add(lines))
  let looked = false
  const look = async (): Promise<void> => {
    const before = messages.list
    await tail.look()
    if (looked && messages.list === before) return
    looked = true
    panel.redraw()
  }
  const timer = setInterval(() => void look(), LOOK_MS).unref()
  void look()
  let drawn:
    | { readonly list: readonly Message[]; readonly width: number; readonly lines: readonly Line[] }
    | undefined
  return createTextPage(panel, {
    title: `Log of ${name}`,
    about: () => pathText(path, paths),
    empty: 'It has logged nothing lately.',
    follows: true,
    lines: ({ width }) => {
      const { list } = messages
      if (drawn?.list !== list || drawn.width !== width)
        drawn = { list, width, lines: list.flatMap((message) => messageLines(message, width)) }
      return drawn.lines
    },
    close: () => {
      clearInterval(timer)
      void tail.close()
    },
  })
}

function messageLines({ time, lines, isBad }: Message, width: number): readonly Line[] {
  return lines
    .flatMap((text) => wrap(text, width - BEFORE - 1, MOST_ROWS))
    .slice(0, MOST_ROWS)
    .map((text, index) => [
      { color: 'dim', text: index === 0 ? ` ${time}  ` : ' '.repeat(BEFORE) },
      { color: isBad ? 'warning' : 'text', text },
    ])
}

import { wrap } from '../../screen/columns.ts'
import { line } from '../../screen/line.ts'
import type { Page, Panel } from '../page.ts'
import { createTextPage } from '../text-page.ts'

/** The end of what a server has written on stderr, as it comes. */
export function createStderrPage(panel: Panel, name: string): Page {
  const tail = (): string => panel.scope.tapline.server(name)?.session.status.report.stderrTail ?? ''
  return createTextPage(panel, {
    title: `Stderr of ${name}`,
    empty: 'It has written nothing.',
    follows: true,
    lines: ({ width }) => {
      const text = tail()
      if (text === '') return []
      return text
        .split('\n')
        .flatMap((row) => wrap(row, width - 2, Infinity))
        .map((row) => line('text', ` ${row}`))
    },
  })
}

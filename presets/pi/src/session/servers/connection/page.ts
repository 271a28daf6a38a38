import { pad, wrap } from '../../screen/columns.ts'
import type { Line } from '../../screen/line.ts'
import type { Page, Panel } from '../page.ts'
import { createTextPage } from '../text-page.ts'
import { connectionFacts, type Fact } from './facts.ts'

const LABELS = 14

/** How a server is connected, and with what. */
export function createConnectionPage(panel: Panel, name: string): Page {
  return createTextPage(panel, {
    title: `Connection of ${name}`,
    empty: 'This server is no longer configured.',
    lines: ({ width }) => {
      const server = panel.scope.tapline.server(name)
      return server
        ? connectionFacts(server, panel.scope.paths).flatMap((fact) => factLines(fact, width))
        : []
    },
  })
}

function factLines({ label, values, isWrong }: Fact, width: number): readonly Line[] {
  return values
    .flatMap((value) => wrap(value, width - LABELS - 2, Infinity))
    .map((text, index) => [
      { color: 'dim', text: ` ${pad(index === 0 ? label : '', LABELS)}` },
      { color: isWrong === true ? 'warning' : 'text', text },
    ])
}

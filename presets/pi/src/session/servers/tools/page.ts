import { cleanText, type Exposure } from '@tapline/core'
import { pad, wrap } from '../../screen/columns.ts'
import { type Line, line, type Span } from '../../screen/line.ts'
import { EXPOSURES } from '../exposures.ts'
import { createItemsPage, type Item } from '../items/page.ts'
import type { Page, Panel } from '../page.ts'
import { said } from '../words.ts'
import { hintsText, type OfferedTool, OfferedTools } from './offered.ts'
import { createToolPage } from './tool-page.ts'

const LONGEST_NAME = 80
const LONGEST_DESCRIPTION = 600
const MARK_COLUMNS = 10

/** What a server offers, and how each of it reaches the model. */
export function createToolsPage(panel: Panel, name: string): Page {
  const tools = new OfferedTools(panel.scope.tapline, name)
  const server = () => panel.scope.tapline.server(name)
  let made: { readonly of: readonly OfferedTool[]; readonly items: readonly Item[] } = { of: [], items: [] }
  return createItemsPage(panel, {
    title: `Tools of ${name}`,
    noun: 'tool',
    detailRows: 3,
    items: () => {
      const of = tools.list()
      if (made.of !== of) made = { of, items: of.map(itemOf) }
      return made.items
    },
    head: ({ width }) => {
      const { spec, listed } = server() ?? {}
      const list = tools.list()
      return [
        ...(spec === undefined ? [] : [line('muted', ` ${exposureText(spec.exposure, list)}`)]),
        ...(listed === false && list.length > 0
          ? wrap(
              'As it had them in an earlier session: it has not listed them in this one.',
              width - 2,
              2,
            ).map((part) => line('warning', ` ${part}`))
          : []),
      ]
    },
    nothing: () =>
      server()?.listed === true
        ? 'The server offers no tools.'
        : 'The server has not said yet what it offers.',
    open: ({ key }) => panel.open(createToolPage(panel, tools, key)),
  })
}

function exposureText(exposure: Exposure, tools: readonly OfferedTool[]): string {
  const others = tools.filter(
    ({ spec, refusal }) => refusal === undefined && spec.exposure !== exposure,
  ).length
  const more = others === 0 ? '' : `; ${others} of them otherwise, by toolExposure`
  return `${exposure}: ${EXPOSURES[exposure]}${more}`
}

function itemOf(tool: OfferedTool): Item {
  const { spec, refusal } = tool
  const about = said(spec.description, LONGEST_DESCRIPTION)
  const isReachable = refusal === undefined && spec.exposure !== 'hidden'
  return {
    key: spec.serverTool.name,
    name: cleanText(spec.serverTool.name, LONGEST_NAME),
    color: isReachable ? 'text' : 'dim',
    mark: markOf(tool),
    about,
    details: (width, most) => detailLines(tool, about, width, most),
  }
}

function markOf({ spec: { exposure }, refusal }: OfferedTool): Span {
  if (refusal !== undefined) return { color: 'warning', text: pad('left out', MARK_COLUMNS) }
  return { color: exposure === 'hidden' ? 'dim' : 'muted', text: pad(exposure, MARK_COLUMNS) }
}

/** What is known of the selected tool in a few lines. */
function detailLines(
  { spec, refusal }: OfferedTool,
  about: string,
  width: number,
  most: number,
): readonly Line[] {
  const hints = hintsText(spec)
  const facts = [...(refusal === undefined ? [spec.name] : []), ...(hints === '' ? [] : [hints])]
  return [
    ...(refusal === undefined ? [] : [line('warning', ` Left out: ${refusal}`)]),
    ...wrap(about, width - 2, most).map((part) => line('text', ` ${part}`)),
    ...(facts.length === 0 ? [] : [line('dim', ` ${facts.join(' · ')}`)]),
  ]
}

import { cleanLines, cleanText, cut, type JsonSchema, type ToolSpec } from '@tapline/core'
import { redact } from '@tapline/headless'
import { columnsOf, fit, pad, wrap } from '../../screen/columns.ts'
import { BLANK, type Color, type Line, line } from '../../screen/line.ts'
import { EXPOSURES } from '../exposures.ts'
import type { Page, Panel } from '../page.ts'
import { createTextPage } from '../text-page.ts'
import { said } from '../words.ts'
import { hintsText, type OfferedTool, type OfferedTools } from './offered.ts'

const LONGEST_DESCRIPTION = 8_000
const LONGEST_SCHEMA = 100_000
const MOST_LINES = 2_000
const MOST_PARAMETERS = 50
const LABELS = 12
const LONGEST_NAME = 24

/** One tool: what it is called, what it takes, and how it reaches the model. */
export function createToolPage(panel: Panel, tools: OfferedTools, tool: string): Page {
  // A schema may be long, and a page is looked at several times a second.
  let drawn:
    | { readonly tool: OfferedTool; readonly width: number; readonly lines: readonly Line[] }
    | undefined
  return createTextPage(panel, {
    title: cleanText(tool, 60),
    empty: 'The server no longer offers this tool.',
    lines: ({ width }) => {
      const found = tools.named(tool)
      if (!found) return []
      if (drawn?.tool !== found || drawn.width !== width)
        drawn = { tool: found, width, lines: toolLines(found, width) }
      return drawn.lines
    },
  })
}

/** Everything about a tool that a person may want to know. */
export function toolLines({ spec, refusal }: OfferedTool, width: number): readonly Line[] {
  const { serverTool, server, parameters, outputSchema } = spec
  const hints = hintsText(spec)
  const title = serverTool.title ?? serverTool.annotations?.title
  return [
    ...(refusal === undefined ? [] : wrapped('warning', `Left out: ${refusal}`, width)),
    ...(refusal === undefined ? fact('called', spec.name, width) : []),
    ...fact('its name', serverTool.name, width),
    ...(title === undefined ? [] : fact('title', title, width)),
    ...fact(
      'exposure',
      `${spec.exposure}: ${EXPOSURES[spec.exposure]}${ownExposure(spec) ? ' (toolExposure)' : ''}`,
      width,
    ),
    ...fact('server', server.name, width),
    ...fact('hints', hints === '' ? 'none' : `${hints} (the server’s word)`, width),
    BLANK,
    ...cut(redact(cleanLines(spec.description)), LONGEST_DESCRIPTION)
      .split('\n')
      .flatMap((row) => wrapped('text', row, width)),
    ...parameterLines(refusal === undefined ? parameters : asSchema(serverTool.inputSchema)),
    ...schemaLines('Schema', refusal === undefined ? parameters : serverTool.inputSchema, width),
    ...(outputSchema === undefined ? [] : schemaLines('Schema of the result', outputSchema, width)),
  ]
}

function ownExposure({ exposure, server }: ToolSpec): boolean {
  return exposure !== server.exposure
}

function fact(label: string, text: string, width: number): readonly Line[] {
  return wrap(said(text, 500), width - LABELS - 2, MOST_LINES).map((part, index) => [
    { color: 'dim', text: ` ${pad(index === 0 ? label : '', LABELS)}` },
    { color: 'text', text: part },
  ])
}

function wrapped(color: Color, text: string, width: number): readonly Line[] {
  return wrap(text, width - 2, MOST_LINES).map((part) => line(color, ` ${part}`))
}

/** What it takes, one line each: name, type, whether it must be there, and what it is for. */
function parameterLines(schema: JsonSchema): readonly Line[] {
  const { properties, required } = schema
  if (typeof properties !== 'object' || properties === null) return []
  const must = new Set(Array.isArray(required) ? required : [])
  const all = Object.entries(properties as Record<string, unknown>)
  const shown = all.slice(0, MOST_PARAMETERS)
  if (shown.length === 0) return []
  const names = Math.min(LONGEST_NAME, Math.max(...shown.map(([name]) => columnsOf(nameText(name)))))
  return [
    BLANK,
    line('accent', ' Parameters'),
    ...shown.map(([name, property]): Line => {
      const { type, description } = asSchema(property)
      const kind = `${typeText(type)}${must.has(name) ? ', required' : ''}`
      return [
        { color: 'text', text: `   ${pad(nameText(name), names + 2)}` },
        { color: 'muted', text: pad(fit(kind, 20), 22) },
        { color: 'dim', text: typeof description === 'string' ? said(description, 300) : '' },
      ]
    }),
    ...(all.length > shown.length ? [line('dim', `   and ${all.length - shown.length} more`)] : []),
  ]
}

function nameText(name: string): string {
  return fit(cleanText(name, LONGEST_NAME), LONGEST_NAME)
}

function typeText(type: unknown): string {
  if (typeof type === 'string') return cleanText(type, 20)
  return Array.isArray(type) ? cleanText(type.join(' or '), 20) : 'any'
}

function schemaLines(title: string, schema: unknown, width: number): readonly Line[] {
  const json = redact(cut(cleanLines(JSON.stringify(schema, null, 2) ?? 'none'), LONGEST_SCHEMA))
  const rows = json.split('\n').slice(0, MOST_LINES)
  return [BLANK, line('accent', ` ${title}`), ...rows.flatMap((row) => indented(row, width))]
}

/** What is too long for one line goes on in the column where it began. */
function indented(row: string, width: number): readonly Line[] {
  const text = row.trimStart()
  const indent = ' '.repeat(Math.min(row.length - text.length + 3, Math.floor(width / 2)))
  return wrap(text, width - indent.length - 1, MOST_LINES).map((part) => line('muted', indent + part))
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {}
}

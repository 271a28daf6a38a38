import { cleanLines, cleanText, messageOf } from '@tapline/core'
import { type Server, serverLine } from '@tapline/headless'
import { describePrompt } from '@tapline/prompts'
import type { CommandScope } from '../commands/command.ts'
import { columnsOf, pad } from '../screen/columns.ts'
import type { Line } from '../screen/line.ts'
import { connectionFacts } from './connection/facts.ts'
import { EXPOSURES } from './exposures.ts'
import { listResources } from './resources/listing.ts'
import { hintsText, type OfferedTool, OfferedTools } from './tools/offered.ts'
import { toolLines } from './tools/tool-page.ts'
import { said } from './words.ts'

const LABELS = 14
/** A list of resources that takes longer is not waited for. */
const PATIENCE_MS = 5_000
const LONGEST_NAME = 80
const MOST_LISTED = 200
const TOOL_COLUMNS = 100
const ENDS = ['delivered', 'redirected', 'deduped', 'collapsed', 'dropped', 'pending'] as const

/** What is known of one side of a server: on one line, or as a list. */
type Fact = readonly [label: string, word: string, list?: readonly string[]]

/** A server with what the pages of the panel show of it, for where there is no panel. Asks it for its resources. */
export async function serverText(server: Server, scope: CommandScope): Promise<string> {
  const { spec, session } = server
  const { exposure } = spec
  const { stderrTail = '' } = session.status.report
  const written = cleanLines(stderrTail).split('\n').filter(Boolean)
  const facts: readonly Fact[] = [
    ...connectionFacts(server, scope.paths)
      .filter(({ label }) => label !== 'state' && label !== 'reason')
      .flatMap(({ label, values: [first = '', ...more] }): readonly Fact[] => [[label, first, more]]),
    ['exposure', `${exposure}: ${EXPOSURES[exposure]}`],
    toolsFact(server, scope),
    ...(await resourcesFact(server)),
    ...promptsFact(server, scope),
    ...pushesFacts(server, scope),
    ...(written.length === 0 ? [] : [['stderr', '', written] as const]),
  ]
  const lines = facts.flatMap(([label, word, list = []]) => [
    `  ${pad(label, LABELS)}${word}`.trimEnd(),
    ...list.map((item) => `    ${item}`.trimEnd()),
  ])
  return [serverLine(server, scope.toolbox.toolsOf(spec.name).length), ...lines].join('\n')
}

/** One tool, by the server's name for it or the model's: what it takes, and what the server says of it. */
export function toolText(server: Server, name: string, { tapline }: CommandScope): string | undefined {
  const tools = new OfferedTools(tapline, server.spec.name)
  const tool = tools.named(name) ?? tools.list().find(({ spec }) => spec.name === name)
  return tool && toolLines(tool, TOOL_COLUMNS).map(textOf).join('\n').trim()
}

function toolsFact({ spec, listed }: Server, { tapline }: CommandScope): Fact {
  if (tapline.catalogue.listingOf(spec.name) === undefined)
    return ['tools', spec.enabled ? 'not known yet' : 'none while it is disabled']
  const tools = new OfferedTools(tapline, spec.name).list()
  const widest = Math.max(0, ...tools.map((tool) => columnsOf(nameOf(tool))))
  return [
    'tools',
    listed ? `${tools.length} offered` : `${tools.length} in an earlier session`,
    tools.map((tool) => `${pad(nameOf(tool), widest + 2)}${reachOf(tool)}`),
  ]
}

function nameOf({ spec }: OfferedTool): string {
  return cleanText(spec.serverTool.name, LONGEST_NAME)
}

function reachOf({ spec, refusal }: OfferedTool): string {
  if (refusal !== undefined) return `left out: ${cleanText(refusal, 300)}`
  const hints = hintsText(spec)
  return `${pad(spec.exposure, 10)}${spec.name}${hints === '' ? '' : ` · ${hints}`}`
}

async function resourcesFact(server: Server): Promise<readonly Fact[]> {
  const { state, capabilities } = server.session.status
  if (state !== 'connected' || capabilities?.['resources'] === undefined) return []
  try {
    const { resources, isCut } = await listResources(server, AbortSignal.timeout(PATIENCE_MS))
    const shown = resources.slice(0, MOST_LISTED).map(({ uri, uriTemplate, name }) => {
      const address = wordOf(uri ?? uriTemplate)
      const called = wordOf(name)
      return [address || '(no address)', ...(called === '' || called === address ? [] : [called])].join('  ')
    })
    const rest = isCut
      ? ['and more']
      : resources.length > shown.length
        ? [`and ${resources.length - shown.length} more`]
        : []
    return [['resources', `${resources.length} offered`, [...shown, ...rest]]]
  } catch (thrown) {
    return [['resources', cleanText(messageOf(thrown), 300)]]
  }
}

/** What a server sent as a text, which may be anything. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? said(value, 300) : ''
}

function promptsFact({ spec: { name } }: Server, { tapline }: CommandScope): readonly Fact[] {
  const commands = tapline.services.prompts?.book.commandsOf(name) ?? []
  if (commands.length === 0) return []
  const list = commands.slice(0, MOST_LISTED).map(({ name: command, prompt }) => {
    return `/${command} ${describePrompt(name, prompt)}`
  })
  return [['prompts', `${commands.length} offered, as commands`, list]]
}

function pushesFacts({ spec: { name } }: Server, { tapline }: CommandScope): readonly Fact[] {
  const { counts, lastError } = tapline.pipeline.book(name)
  const ends = ENDS.map((state) => `${state}=${counts[state]}`).join(' + ')
  return [
    ['pushes', `received=${counts.received} = ${ends} · /triggers sources has the newest`],
    ...(lastError === undefined ? [] : [['last error', cleanText(lastError, 300)] as const]),
  ]
}

function textOf(line: Line): string {
  return cleanLines(line.map(({ text }) => text).join(''))
    .replace(/^ /, '')
    .trimEnd()
}

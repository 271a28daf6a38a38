import { type ChatTool, toolNames } from '../../drivers/chat.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS, said } from '../stage.ts'
import { openSide, registered, type ReportedTool, sectionIn, type SideOptions, type Under } from './side.ts'

/** A configuration to be seen under both. */
export interface Configuration extends SideOptions {
  readonly name: string
  /** How many tools of servers there are to be registered. */
  readonly tools: number
  /** What the model calls, beside one tool of each server, by itself and in a script. */
  readonly calls?: readonly string[]
  /** What it runs in codemode beside that, by a word for it. */
  readonly scripts?: Readonly<Record<string, string>>
}

/** All that one pi with these servers showed. */
export interface Observation {
  /** As the first request declares them. */
  readonly declared: readonly ChatTool['function'][]
  /** What the prompt says of servers when all are connected. */
  readonly section: string | undefined
  /** The tools of servers, and those that read their resources. */
  readonly registered: readonly ReportedTool[]
  /** pi's own tools that are active when all are connected. */
  readonly active: readonly string[]
  /** What calls answered, by what was called. */
  readonly answers: Readonly<Record<string, string>>
  readonly heard: number
  readonly warnings: readonly string[]
}

/** Runs pi with this configuration and looks at everything that may differ. */
export async function observe(under: Under, configuration: Configuration): Promise<Observation> {
  await using side = await openSide(under, configuration)
  const first = await side.prompt()
  const tools = await registered(side, configuration.tools)
  const settled = await waitUntil(
    async () => {
      const request = await side.prompt()
      // Every server says something of itself as soon as it is connected.
      return /^- \S+ \(\w+\)$/m.test(sectionIn(request) ?? '') ? undefined : request
    },
    PATIENCE_MS,
    () => 'every server to be connected',
  )
  const reading = (await side.tools()).filter(({ name }) => /^(?:list|read)_mcp_resource/.test(name))
  const active = toolNames(settled).filter((name) => !name.startsWith('mcp__'))
  const answers: Record<string, string> = {}
  for (const server of Object.keys({ ...configuration.entries, ...configuration.project })) {
    const name = `mcp__${server.replaceAll('-', '_')}__transition_issue`
    answers[name] = await side.call(name, { id: '1' })
    if (active.includes('codemode')) {
      answers[`script: ${name}`] = await side.script(
        `try { text(JSON.stringify(await tools.${name}({ id: '1' }))) } catch (error) { text('ERR ' + error.message) }`,
      )
    }
  }
  for (const name of configuration.calls ?? []) answers[name] = await side.call(name)
  for (const [word, code] of Object.entries(configuration.scripts ?? {}))
    answers[`script: ${word}`] = await side.script(code)
  return {
    declared: (first.body.tools ?? []).map((tool) => tool.function),
    section: sectionIn(settled),
    registered: [...tools, ...reading].map(
      ({ name, label, description, parameters, outputSchema, exposure, annotations, namespace }) => ({
        name,
        description,
        parameters,
        outputSchema,
        ...(label === undefined ? {} : { label }),
        ...(exposure === undefined ? {} : { exposure }),
        ...(annotations === undefined ? {} : { annotations }),
        ...(namespace === undefined ? {} : { namespace }),
      }),
    ),
    active,
    answers,
    heard: side.heard(),
    warnings: said(side.pi).filter((notice) => /only reachable/.test(notice)),
  }
}

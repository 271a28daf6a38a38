import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  type ElicitationAnswer,
  type ElicitationField,
  type ElicitationQuestion,
  type ElicitationValue,
  isTaplineError,
  type ToolSpec,
} from '@tapline/core'
import { createTapline, type Server, type Tapline, trustStore } from '@tapline/headless'
import { arrive, createBrowser } from '../drivers/browser.ts'

/* What the conformance suite starts for each scenario, with the address of the scenario's server as last argument: a
   Tapline with that one server in its mcp.json, and a person who approves every sign-in and answers every question. It
   lists the tools and calls each once, which is all that any scenario asks of a client. */

/** What the suite hands over in `MCP_CONFORMANCE_CONTEXT`. */
interface Context {
  readonly client_id?: string
  readonly client_secret?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: Record<string, unknown> }[]
}

/** A person who is asked to sign in again and again gives up. */
const MOST_SIGN_INS = 3
/** The document that the suite takes for the client's own. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context

const root = mkdtempSync(path.join(tmpdir(), 'tapline-conformance-'))
let tapline: Tapline | undefined
try {
  tapline = await openTapline()
  await goThrough(tapline, tapline.servers[0]!)
} catch (thrown) {
  console.error(isTaplineError(thrown) ? thrown.toString() : thrown)
  process.exitCode = 1
} finally {
  await tapline?.close()
  rmSync(root, { recursive: true, force: true })
}

async function openTapline(): Promise<Tapline> {
  const entry = { url, ...oauthOf(), timeout: 20 }
  writeFileSync(path.join(root, 'mcp.json'), JSON.stringify({ mcpServers: { server: entry } }))
  return createTapline({
    info: { name: 'tapline', version: '0.1.0' },
    mode: 'headless',
    pushes: 'ignore',
    paths: { cwd: root, home: root, agentDir: root, loopsDir: path.join(root, 'loops') },
    env: {},
    projectTrusted: false,
    trust: trustStore(root),
    registered: () => [],
    attempts: 1,
    elicit: async (_server, question) => answerTo(question),
    onDiagnostic: ({ message }) => console.error(message),
  })
}

/** The client that the scenario knows, as a person would enter it. */
function oauthOf(): object {
  const { client_id: clientId, client_secret: clientSecret } = context
  if (clientId !== undefined) return { oauth: { clientId, ...(clientSecret ? { clientSecret } : {}) } }
  return scenario === 'auth/basic-cimd' ? { oauth: { clientId: DOCUMENT } } : {}
}

async function goThrough(of: Tapline, server: Server): Promise<void> {
  of.start()
  await server.settled()
  let signIns = 0
  const signIn = async (): Promise<void> => {
    if (++signIns > MOST_SIGN_INS) throw new Error('The server wants one sign-in after the other.')
    const browser = createBrowser()
    const show = (address: string): void => void browser.approve(address).then(arrive).catch(console.error)
    await of.services.signIns!.signIn(server.spec, { show }, { signal: AbortSignal.timeout(30_000) })
    await server.session.reconnect().catch(() => undefined)
    await server.settled()
  }
  while (server.session.status.state === 'auth_failed') await signIn()
  await server.session.ready()

  const tools = of.catalogue.list().tools
  const calls =
    context.toolCalls ??
    tools.map((tool) => ({ name: tool.serverTool.name, arguments: argumentsFor(tool, tools) }))
  for (const { name, arguments: args = {} } of calls) {
    const tool = tools.find(({ serverTool }) => serverTool.name === name)?.serverTool
    await attempt(name, signIn, () => server.session.callTool(name, args, tool ? { tool } : {}))
  }
}

/** Whoever presses Enter in every field: its default, and something of the right type where it has none and needs one. */
function answerTo(question: ElicitationQuestion): ElicitationAnswer {
  if (question.mode === 'url') return { action: 'accept' }
  const content = question.fields.flatMap((field) => {
    const value = field.default ?? (field.required ? exampleOf(field) : undefined)
    return value === undefined ? [] : [[field.name, value] as const]
  })
  return { action: 'accept', content: Object.fromEntries(content) }
}

function exampleOf(field: ElicitationField): ElicitationValue {
  switch (field.type) {
    case 'boolean':
      return true
    case 'text':
      return 'text'
    case 'choice':
      return field.options[0]?.value ?? ''
    case 'choices':
      return field.options.map(({ value }) => value).slice(0, field.minItems ?? 1)
    default:
      return field.minimum ?? 5
  }
}

/** One call, tried again after each sign-in that it needs. What fails otherwise is told, and the next one is made. */
async function attempt(
  name: string,
  signIn: () => Promise<void>,
  call: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await call()
      return
    } catch (thrown) {
      const isRefused = isTaplineError(thrown) && thrown.code === 'AUTH_FAILED'
      if (!isRefused) {
        console.error(`${name}: ${isTaplineError(thrown) ? thrown.toString() : String(thrown)}`)
        process.exitCode = 1
        return
      }
    }
    await signIn()
  }
}

/** Something of the right type for each argument that a tool requires; a schema is that of the other tool. */
function argumentsFor(tool: ToolSpec, all: readonly ToolSpec[]): Record<string, unknown> {
  const { properties = {}, required = [] } = tool.parameters as {
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>
    readonly required?: readonly string[]
  }
  const example = (name: string): unknown => {
    const type = properties[name]?.type
    if (type === 'object') return all.find((other) => other !== tool)?.parameters ?? {}
    return type === 'number' || type === 'integer' ? 5 : type === 'boolean' ? true : 'text'
  }
  return Object.fromEntries(required.map((name) => [name, example(name)]))
}

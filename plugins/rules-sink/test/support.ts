import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  AgentOutcome,
  Agents,
  AgentTask,
  AuditRow,
  ChatMessage,
  DedupVerdict,
  Host,
  Plugin,
  Receipt,
  Trigger,
} from '@tapline/core'
import { files } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { afterEach } from 'vitest'
import { joinWindows, type Presence } from '../../../presets/headless/src/state/windows.ts'
import { rulesSink } from '../src/index.ts'
import type { NewRule, Rule, Rules, Timing } from '../src/index.ts'

/** A machine: its state, its projects. */
export interface Machine {
  readonly root: string
  readonly loopsDir: string
  readonly home: string
  /** A project's directory, made when first asked for. */
  project(name: string): string
  /** The content of a state file. */
  state(name: string): unknown
}

const cleanUps: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A machine that goes away after the test. */
export function machine(): Machine {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'rules-')))
  cleanUps.push(() => rmSync(root, { recursive: true, force: true }))
  const loopsDir = join(root, 'loops')
  const home = join(root, 'home')
  for (const directory of [loopsDir, home]) mkdirSync(directory, { recursive: true })
  return {
    root,
    loopsDir,
    home,
    project: (name) => {
      const path = join(root, name)
      mkdirSync(path, { recursive: true })
      return path
    },
    state: (name) => JSON.parse(readFileSync(join(loopsDir, name), 'utf8')) as unknown,
  }
}

/** What a scripted sub-agent is given, with its tool at hand. */
export interface Scripted {
  readonly task: AgentTask
  /** How many ran before it. */
  readonly turn: number
  /** The ids of the rules in the prompt, in order. */
  readonly ids: readonly string[]
  report(...ids: readonly string[]): Promise<string>
}

export type Script = (scripted: Scripted) => Promise<Partial<AgentOutcome> | void>

/** Sub-agents that do what a script says. */
export function scriptedAgents(script: Script): Agents & { readonly tasks: readonly AgentTask[] } {
  const tasks: AgentTask[] = []
  return {
    tasks,
    current: () => ({ model: 'faux/session', thinking: 'low' }),
    run: async (task) => {
      const turn = tasks.length
      tasks.push(task)
      const ids = idsIn(task.prompt)
      const report = async (...matched: readonly string[]): Promise<string> =>
        await (task.tools[0] as AgentTask['tools'][number]).execute({
          matches: matched.map((id) => ({ id })),
        })
      const outcome = await script({ task, turn, ids, report })
      return { status: 'completed', text: 'done', costUsd: 0, ...outcome }
    },
  }
}

/** The ids in the rules of a prompt. */
function idsIn(prompt: string): readonly string[] {
  const [, rules = ''] = /<rules>\n([\s\S]*)\n<\/rules>/.exec(prompt) ?? []
  return (JSON.parse(rules) as { id: string }[]).map(({ id }) => id)
}

/** One session on a machine. */
export interface Session {
  readonly rules: Rules
  readonly agents: ReturnType<typeof scriptedAgents>
  readonly audit: readonly AuditRow[]
  readonly inbox: readonly {
    readonly trigger: Trigger
    readonly reason: string
    readonly cwd: string | undefined
  }[]
  readonly shown: readonly ChatMessage[]
  readonly reports: readonly { readonly message: string }[]
  /** What the person is told. */
  readonly said: readonly string[]
  readonly presence: Presence
  push(trigger: Trigger, signal?: AbortSignal): Promise<Receipt | undefined>
  /** What it says before a push is claimed. */
  ask(trigger: Trigger, policy?: string): Promise<DedupVerdict | undefined>
  add(rule?: Partial<NewRule>): Promise<Rule>
  states(): readonly string[]
  close(): Promise<void>
}

export interface SessionOptions {
  readonly on: Machine
  readonly cwd: string
  readonly script?: Script
  readonly sessionId?: string
  readonly kind?: 'interactive' | 'host'
  readonly options?: Readonly<Record<string, unknown>>
  readonly timing?: Partial<Timing>
  readonly host?: Partial<Host>
  readonly withoutAgents?: boolean
}

/** A session whose sub-agents report that no rule matches, where a script says nothing else. */
export async function session({
  on,
  cwd,
  script = async ({ report }) => void (await report()),
  sessionId,
  kind = 'interactive',
  options = {},
  timing = {},
  host = {},
  withoutAgents = false,
}: SessionOptions): Promise<Session> {
  const audit: AuditRow[] = []
  const inbox: { trigger: Trigger; reason: string; cwd: string | undefined }[] = []
  const agents = scriptedAgents(script)
  const paths = { cwd, home: on.home, agentDir: on.root, loopsDir: on.loopsDir }
  const presence = joinWindows({ paths, kind, ...(sessionId === undefined ? {} : { sessionId }) })
  const said: string[] = []
  let rules: Rules | undefined
  const plugin = rulesSink({
    onReady: (ready) => (rules = ready),
    timing: { watchMs: 200, retryMs: 50, endMs: 300, ...timing },
  })
  const log = { info: () => undefined, warn: (message: string) => void said.push(message) }
  const kernel = await testKernel(
    { ...plugin, setup: (context, given) => plugin.setup({ ...context, log }, given) } satisfies Plugin,
    {
      host: {
        paths,
        files,
        windows: presence,
        ...(withoutAgents ? {} : { agents }),
        audit: (row) => void audit.push(row),
        toInbox: async (trigger, { reason, cwd: of }) => {
          inbox.push({ trigger, reason, cwd: of })
          return true
        },
        redact: (text) => text.replaceAll(/sk-\w+/g, '[REDACTED:api-key]'),
        ...host,
      },
      options: { 'rules-sink': options },
    },
  )
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= kernel.dispose().then(() => presence.leave()))
  cleanUps.push(close)
  const service = rules as unknown as Rules
  return {
    rules: service,
    agents,
    audit,
    inbox,
    shown: kernel.shown,
    reports: kernel.reports,
    said,
    presence,
    push: (trigger, signal = new AbortController().signal) =>
      kernel.kernel.hooks.deliver.for('rules').promise(trigger, { policy: 'rules', signal }),
    ask: (trigger, policy = 'rules') =>
      kernel.kernel.hooks.dedup.promise({ trigger, scope: 'project', policy }),
    add: (rule = {}) => service.store.add({ condition: 'the build is red', action: 'say so', cwd, ...rule }),
    states: () => audit.map(({ state }) => state),
    close,
  }
}

/** A push. */
export function push(overrides: Partial<Trigger> = {}): Trigger {
  const traceId = overrides.traceId ?? randomUUID()
  return {
    kind: 'trigger',
    traceId,
    source: 'mcp',
    server: 'builds',
    method: 'notifications/build',
    key: `mcp:builds:custom:${traceId}`,
    replacement: 'drop',
    summary: 'notifications/build build 7 failed',
    receivedAt: Date.now(),
    ...overrides,
  }
}

/** Resolves when `what` answers something; fails after `withinMs`. */
export async function until<T>(what: () => T | undefined | false, withinMs = 10_000): Promise<T> {
  const end = performance.now() + withinMs
  for (;;) {
    const found = what()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end)
      throw new Error(`it did not come true within ${withinMs} ms: ${what.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A promise with its ends. */
export function gate<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>()
}

import type { Hooks, HookName, Kernel, Plugin, TriggerEvent } from '../../src/index.ts'
import { createMemoryPair } from '../../src/testing/index.ts'
import { connectRequest, rawNotification, serverSpec, toolSpec, trigger } from '../specs.ts'

/** The sinks that the good plugin provides and the bad plugins break. */
const SINKS = ['summary', 'run', 'log', 'inbox', 'rules'] as const

const GOOD_SERVER = serverSpec({ name: 'good' })
const GOOD_TRANSPORT = createMemoryPair().client
const GOOD_TRIGGER = trigger({ summary: 'good' })

/** Answers on every hook; `seen` is what its observer was told. */
export function goodPlugin(seen: TriggerEvent[] = []): Plugin {
  return {
    name: 'good',
    api: 1,
    setup({ hooks }) {
      hooks.config.tapPromise({}, async (state) => ({ ...state, servers: [...state.servers, GOOD_SERVER] }))
      hooks.connect.tapPromise({}, async () => GOOD_TRANSPORT)
      hooks.notify.tap({}, (notice) => (notice.kind === 'raw' ? GOOD_TRIGGER : undefined))
      hooks.dedup.tap({}, () => ({ verdict: 'first' }))
      for (const sink of SINKS) hooks.deliver.sink(sink).tap({}, () => ({ sink }))
      hooks.deliver.observe((event) => void seen.push(event))
      hooks.registerTool.tap({}, (tool) => ({ ...tool, label: 'good' }))
    },
  }
}

/** What the good plugin answers at each hook. */
export const GOOD_ANSWERS: Readonly<Record<HookName, unknown>> = {
  config: { servers: [GOOD_SERVER], diagnostics: [], questions: [] },
  connect: GOOD_TRANSPORT,
  notify: GOOD_TRIGGER,
  dedup: { verdict: 'first' },
  deliver: SINKS.map((sink) => ({ sink })),
  registerTool: toolSpec({ label: 'good' }),
}

/** Asks one hook what the session, the pipeline or a preset would ask it. */
export async function ask({ hooks }: Pick<Kernel, 'hooks'>, hook: HookName): Promise<unknown> {
  switch (hook) {
    case 'config':
      return hooks.config.promise({ servers: [], diagnostics: [], questions: [] }, CONFIG_CONTEXT)
    case 'connect':
      return hooks.connect.promise(connectRequest())
    case 'notify':
      return hooks.notify.call(rawNotification())
    case 'dedup':
      return hooks.dedup.promise({ trigger: trigger(), scope: 'process' })
    case 'deliver':
      return askSinks(hooks)
    case 'registerTool':
      return hooks.registerTool.call(toolSpec(), { taken: () => false })
  }
}

/** Shows one event to every observer. */
export function show({ hooks }: Pick<Kernel, 'hooks'>): Promise<void> {
  const { traceId, server, method, key, summary } = trigger()
  return hooks.observe.promise({
    ts: 0,
    traceId,
    server,
    method,
    key,
    summary,
    policy: 'log',
    state: 'delivered',
  })
}

async function askSinks(hooks: Hooks): Promise<unknown[]> {
  const context = { policy: 'log', signal: new AbortController().signal }
  return Promise.all(SINKS.map((sink) => hooks.deliver.for(sink).promise(trigger(), context)))
}

const CONFIG_CONTEXT = {
  cwd: '/nowhere',
  home: '/nowhere',
  agentDir: '/nowhere',
  loopsDir: '/nowhere/loops',
  env: {},
  projectTrusted: true,
  trustOf: () => undefined,
  registered: [],
  signal: new AbortController().signal,
}

import type { AgentOutcome } from '@tapline/core'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS, TAPLINE, type Stage, type StartOptions } from '../stage.ts'

/** What the probe says of a run. */
export interface ProbedOutcome extends AgentOutcome {
  /** What `onCost` was told. */
  readonly costs: readonly number[]
}

/** A run for the probe: fields of a task, and from which cost on it is over budget. */
export interface ProbeTask {
  readonly prompt: string
  readonly cwd?: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutMs?: number
  readonly stopAt?: number
}

/** A pi whose sub-agents are run by a plugin of another extension, as a rules sink would run them. */
export interface ProbedPi {
  readonly pi: Pi
  readonly transcripts: string
  run(task: ProbeTask): Promise<ProbedOutcome>
  /** Starts a run without waiting for it, and answers how to. */
  begin(task: ProbeTask): Promise<() => Promise<ProbedOutcome>>
  abort(): Promise<void>
}

const PROBE = `
  let host
  const controllers = new Set()
  pi.events.on('tapline:collect', (c) => c.add({ name: 'probe', api: 1, setup(given) { host = given.host } }))
  pi.registerCommand('agent', { handler: async (args, ctx) => {
    const { number, stopAt, ...task } = JSON.parse(args)
    const controller = new AbortController()
    controllers.add(controller)
    const costs = []
    const report = {
      name: 'report', description: 'Reports what matched.',
      parameters: { type: 'object', properties: { ids: { type: 'array', items: { type: 'string' } } }, required: ['ids'] },
      execute: ({ ids }) => {
        if (ids.length === 0) throw new Error('report needs an id')
        return 'noted ' + ids.join()
      },
    }
    void host.agents.run({
      cwd: ctx.cwd, timeoutMs: 30_000, transcriptDir: ctx.cwd + '/transcripts', ...task,
      signal: controller.signal, tools: [report],
      onCost: (usd) => { costs.push(usd); return stopAt === undefined || usd < stopAt },
    }).then((outcome) => ctx.ui.notify('OUTCOME ' + number + ' ' + JSON.stringify({ ...outcome, costs }), 'info'))
  } })
  pi.registerCommand('abort-agents', { handler: async () => controllers.forEach((one) => one.abort()) })
  pi.registerCommand('agent-now', { handler: async (_args, ctx) =>
    ctx.ui.notify('NOW ' + JSON.stringify(host.agents.current()), 'info') })`

/** Starts such a pi; its Tapline has set up its plugins when this resolves. */
export async function startProbed(stage: Stage, options: StartOptions = {}): Promise<ProbedPi> {
  const pi = await stage.start({
    ...options,
    extensions: [...(options.extensions ?? [TAPLINE]), stage.extension('probe', PROBE)],
  })
  // The session is there when a command of it has answered.
  await pi.command('/mcp')
  let count = 0
  const begin = async (task: ProbeTask): Promise<() => Promise<ProbedOutcome>> => {
    const number = ++count
    await pi.command(`/agent ${JSON.stringify({ number, ...task })}`)
    const mark = `OUTCOME ${number} `
    const find = () => pi.notices().find((notice) => notice.startsWith(mark))
    return async () =>
      JSON.parse(
        (
          await waitUntil(find, PATIENCE_MS, () => `the outcome of ${JSON.stringify(task)}; ${pi.stderr}`)
        ).slice(mark.length),
      ) as ProbedOutcome
  }
  return {
    pi,
    transcripts: `${stage.scratch.project}/transcripts`,
    begin,
    run: async (task) => (await begin(task))(),
    abort: async () => void (await pi.command('/abort-agents')),
  }
}

/** A stage whose model costs money: 1 dollar for a thousand tokens in, 2 for a thousand out. */
export async function createPricedStage(): Promise<{ readonly stage: Stage; readonly priced: StartOptions }> {
  const stage = await createStage()
  const model = {
    id: 'fake-1',
    name: 'Fake One',
    contextWindow: 128_000,
    maxTokens: 4096,
    input: ['text'],
    cost: { input: 1_000, output: 2_000, cacheRead: 0, cacheWrite: 0 },
  }
  const fake = { api: 'openai-completions', apiKey: 'sk-not-real', baseUrl: stage.model.url, models: [model] }
  return { stage, priced: { models: { fake }, settings: { retry: { enabled: false } } } }
}

/** What one answer of that model costs: ten tokens in and five out. */
export const ANSWER_USD = 0.02

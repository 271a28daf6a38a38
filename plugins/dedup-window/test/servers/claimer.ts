/**
 * One window of a project: a kernel, the plugin, a pipeline. Reads one JSON command a line, answers each with one line.
 *   node claimer.ts <loops dir> <project> <window in ms>
 */
import { createInterface } from 'node:readline'
import { createKernel, createPipeline, type DedupVerdict, type Plugin, type Trigger } from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { dedupWindow } from '../../src/index.ts'

interface Command {
  readonly id: number
  /** Asks for a verdict. */
  readonly ask?: Trigger
  readonly held?: boolean
  /** Settles the claim of this trace id. */
  readonly settle?: string
  readonly as?: 'done' | 'failed'
  /** Claims these, one after the other, and settles them; answers those that were first. */
  readonly race?: readonly Trigger[]
  /** Hands these to the pipeline. */
  readonly push?: readonly Trigger[]
  /** From now on nothing is delivered any more: the sink never answers. */
  readonly hang?: boolean
}

const [loopsDir = '', cwd = '', windowMs = ''] = process.argv.slice(2)
// A limit on files sends a signal that a full disk does not, and the library of the locks would end the process for it.
process.on('SIGXFSZ', () => undefined)
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const claims = new Map<string, Extract<DedupVerdict, { verdict: 'first' }>>()
let hangs = false

const sink: Plugin = {
  name: 'sink',
  api: 1,
  setup({ hooks }) {
    hooks.deliver.sink('rules').tapPromise({}, async ({ traceId, summary }) => {
      say({ event: 'taken', traceId, summary })
      if (hangs) await new Promise(() => setInterval(() => undefined, 1_000))
      return { sink: 'rules' }
    })
    hooks.deliver.observe(({ traceId, state, reason }) => {
      say({ event: state, traceId, reason })
      return undefined
    })
  },
}
const kernel = await createKernel({
  plugins: [dedupWindow({ windowMs: Number(windowMs) }), sink],
  host: testHost({ paths: { cwd, home: cwd, agentDir: cwd, loopsDir } }),
  report: ({ message }) => say({ event: 'warning', reason: message }),
  log: { info: () => undefined, warn: (reason) => say({ event: 'warning', reason }) },
})
const pipeline = createPipeline({ kernel, policyFor: () => 'rules' })

const claim = (trigger: Trigger, held = false): Promise<DedupVerdict | undefined> =>
  kernel.hooks.dedup.promise({ trigger, scope: 'project', ...(held ? { held } : {}) })

async function race(triggers: readonly Trigger[]): Promise<string[]> {
  const firsts: string[] = []
  for (const trigger of triggers) {
    const verdict = await claim(trigger)
    if (verdict?.verdict !== 'first') continue
    firsts.push(trigger.key)
    verdict.done?.()
  }
  return firsts
}

async function answer({ ask, held, settle, as, race: raced, push, hang }: Command): Promise<object> {
  if (ask) {
    const verdict = await claim(ask, held)
    if (verdict?.verdict === 'first') claims.set(ask.traceId, verdict)
    return { verdict }
  }
  if (settle !== undefined && as) claims.get(settle)?.[as]?.()
  if (hang) hangs = true
  for (const trigger of push ?? []) pipeline.admit(trigger)
  return raced ? { firsts: await race(raced) } : {}
}

say({ event: 'ready' })
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  void answer(command).then((result) => say({ id: command.id, ...result }))
}
await kernel.dispose()
process.exit(0)

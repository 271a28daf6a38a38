/* A session in a process of its own: says on standard output what happens, as JSON lines, until it is killed. */
import { dirname } from 'node:path'
import { type AgentTask, files } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { joinWindows } from '../../../../presets/headless/src/state/windows.ts'
import { rulesSink } from '../../src/index.ts'

const [loopsDir = '', cwd = '', sessionId = '', mode = 'quiet'] = process.argv.slice(2)
const say = (event: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(event)}\n`)
const paths = { cwd, home: dirname(loopsDir), agentDir: dirname(loopsDir), loopsDir }
const idsIn = (prompt: string): string[] =>
  (JSON.parse(/<rules>\n([\s\S]*)\n<\/rules>/.exec(prompt)?.[1] ?? '[]') as { id: string }[]).map(
    ({ id }) => id,
  )

/** `quiet` finds no match, `hang` never ends, `act` reports the first rule and never ends. */
const run = async (task: AgentTask) => {
  const ids = idsIn(task.prompt)
  say({ event: 'checking', ids, prompt: task.prompt.length })
  const report = (matched: readonly string[]) =>
    task.tools[0]?.execute({ matches: matched.map((id) => ({ id })) })
  if (mode === 'quiet') await report([])
  if (mode === 'act') {
    await report(ids.slice(0, 1))
    say({ event: 'acting', ids: ids.slice(0, 1) })
  }
  if (mode !== 'quiet') await new Promise(() => setInterval(() => undefined, 60_000))
  return { status: 'completed' as const, text: 'done', costUsd: 0 }
}

const windows = joinWindows({ paths, kind: 'interactive', sessionId })
const { kernel } = await testKernel(rulesSink({ timing: { retryMs: 50 } }), {
  host: {
    paths,
    files,
    windows,
    agents: { current: () => ({}), run },
    audit: ({ state, details }) => say({ event: 'audit', state, details }),
    toInbox: async (trigger, { reason }) => {
      say({ event: 'inbox', traceId: trigger.traceId, reason })
      return true
    },
  },
})
process.stdin.setEncoding('utf8').on('data', (line: string) => {
  const trigger = JSON.parse(line)
  void kernel.hooks.deliver
    .for('rules')
    .promise(trigger, { policy: 'rules', signal: new AbortController().signal })
    .then((receipt) => say({ event: 'receipt', receipt }))
})
say({ event: 'ready', pid: process.pid })

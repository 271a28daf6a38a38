import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Trigger } from '@tapline/core'
import { expect, it, onTestFinished } from 'vitest'
import { type Machine, machine, push, session, until } from './support.ts'

const PROGRAM = fileURLToPath(new URL('children/window.ts', import.meta.url))
/** A few seconds: the interval at which the queue is looked at, and what a loaded machine adds. */
const SOON_MS = 8_000

interface Said {
  readonly event: string
  readonly ids?: readonly string[]
  readonly state?: string
  readonly reason?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly receipt?: unknown
}

/** A window in a process of its own. */
async function window(on: Machine, sessionId: string, mode: 'quiet' | 'hang' | 'act') {
  const child = spawn(process.execPath, [PROGRAM, on.loopsDir, on.project('a'), sessionId, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: Said[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) said.push(JSON.parse(line) as Said)
  })
  await until(() => said.some(({ event }) => event === 'ready'), 20_000)
  return {
    said,
    of: (event: string) => said.filter((line) => line.event === event),
    push: (trigger: Trigger) => void child.stdin.write(`${JSON.stringify(trigger)}\n`),
    kill: () =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

it('is taken over within seconds when the process that checks it is killed', async () => {
  const on = machine()
  const checking = await window(on, 'one', 'hang')
  const other = await window(on, 'two', 'quiet')
  const store = await session({ on, cwd: on.project('b'), withoutAgents: true })
  const rule = await store.add({ cwd: on.project('a'), createdBy: { sessionId: 'one' } })
  other.push(push())
  await until(() => checking.of('checking').length === 1)
  expect(other.of('receipt')).toEqual([{ event: 'receipt', receipt: { sink: 'rules' } }])
  expect(other.of('checking')).toEqual([])
  await checking.kill()
  const at = Date.now()
  await until(() => other.said.some(({ state }) => state === 'completed'), SOON_MS)
  expect(Date.now() - at).toBeLessThan(SOON_MS)
  expect(other.of('checking')).toMatchObject([{ ids: [rule.id] }])
  expect(other.said.find(({ state }) => state === 'taken_over')?.details).toMatchObject({
    rule_ids: [rule.id],
  })
  await until(() => store.rules.queue().length === 0)
  expect([...checking.of('inbox'), ...other.of('inbox')]).toEqual([])
})

it('does not repeat what was reported before the process was killed, and says so once', async () => {
  const on = machine()
  const acting = await window(on, 'one', 'act')
  const others = [await window(on, 'two', 'quiet'), await window(on, 'three', 'quiet')]
  const store = await session({ on, cwd: on.project('b'), withoutAgents: true })
  const createdBy = { sessionId: 'one' }
  const acted = await store.add({ cwd: on.project('a'), createdBy, fireOnce: false, action: 'deploy' })
  const open = await store.add({ cwd: on.project('a'), createdBy })
  others[0]?.push(push())
  await until(() => acting.of('acting').length === 1)
  await acting.kill()
  await until(() => store.rules.queue().length === 0, SOON_MS)
  const said = others.flatMap((other) => other.said)
  expect(said.filter(({ event }) => event === 'checking')).toMatchObject([{ ids: [open.id] }])
  const lines = said.filter(({ event }) => event === 'inbox')
  expect(lines).toHaveLength(1)
  expect(lines[0]?.reason).toBe(
    `matched, but the action of ${acted.id} (deploy) may be incomplete and is not repeated: the process that carried it out ended`,
  )
  expect(store.rules.store.get(open.id)).toMatchObject({ enabled: true })
  expect(store.rules.store.get(acted.id)).toMatchObject({ firedAt: expect.any(String) })
})

it('is not tried for ever when it ends every process that checks it', async () => {
  const on = machine()
  const store = await session({ on, cwd: on.project('b'), withoutAgents: true })
  await store.add({ cwd: on.project('a') })
  let sent = false
  for (const name of ['one', 'two', 'three']) {
    const victim = await window(on, name, 'hang')
    if (!sent) victim.push(push())
    sent = true
    await until(() => victim.of('checking').length === 1, SOON_MS)
    await victim.kill()
  }
  const survivor = await window(on, 'four', 'hang')
  const [line] = await until(
    () => (survivor.of('inbox').length > 0 ? survivor.of('inbox') : undefined),
    SOON_MS,
  )
  expect(line?.reason).toMatch(/not checked: the check of rule dyn-\w+ was begun 3 times and never ended/)
  expect(survivor.of('checking')).toEqual([])
})

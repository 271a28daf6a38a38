import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditRow, ChatMessage } from '@tapline/core'
import { expect, it, onTestFinished } from 'vitest'
import { createTapline } from '../../../presets/headless/src/host/tapline.ts'
import { trustStore } from '../../../presets/headless/src/state/trust.ts'
import { type Machine, machine, push, type Script, scriptedAgents, until } from './support.ts'

/** The whole of Tapline in one session, with sub-agents that follow a script. */
async function tapline(on: Machine, cwd: string, script: Script) {
  const shown: ChatMessage[] = []
  const running = await createTapline({
    paths: { cwd, home: on.home, agentDir: on.root, loopsDir: on.loopsDir },
    env: {},
    info: { name: 'test', version: '0.0.0' },
    mode: 'rpc',
    pushes: 'deliver',
    projectTrusted: false,
    trust: trustStore(on.root),
    registered: () => [],
    chat: { show: (message) => void shown.push(message), run: () => undefined },
    agents: scriptedAgents(script),
    sessionId: 'session',
    onDiagnostic: () => undefined,
  })
  onTestFinished(() => running.close())
  const { rules } = running.services
  if (!rules) throw new Error('there is no service of rules')
  return { running, rules, shown }
}

const linesOf = <T>(path: string): T[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T)
    : []

it('works in the whole: from a push to the chat, the books and the audit trail', async () => {
  const on = machine()
  const script: Script = async ({ ids, report }) => {
    await report(...ids)
    return { text: 'the token is sk-abcdefghijklmnopqrstuvwx\u001B[31m' }
  }
  const { running, rules, shown } = await tapline(on, on.project('a'), script)
  const book = running.pipeline.book('builds')
  running.pipeline.admit(push({ traceId: 'before' }))
  await running.pipeline.idle()
  expect(book.recent.at(-1)).toMatchObject({ state: 'dropped', reason: 'no rules' })
  await rules.store.add({
    condition: 'c',
    action: 'a',
    promoteToChat: true,
    cwd: on.project('a'),
    createdBy: { sessionId: 'session' },
  })
  running.pipeline.admit(push({ traceId: 'matched' }))
  const [message] = await until(() => (shown.length > 0 ? shown : undefined))
  expect(message?.text).toContain('Result: the token is [REDACTED:api-key]\n')
  expect(book.counts).toMatchObject({ received: 2, delivered: 1, dropped: 1, pending: 0 })
  const rows = await until(() => {
    const found = linesOf<AuditRow>(join(on.loopsDir, 'triggers-audit.jsonl'))
    return found.some(({ state }) => state === 'promoted') ? found : undefined
  })
  expect(rows.map(({ state }) => state)).toEqual(['accepted', 'running', 'completed', 'promoted'])
  expect(JSON.stringify(rows)).not.toContain('sk-abc')
})

it('brings to the real inbox what could not be checked and what may be incomplete, each once', async () => {
  const on = machine()
  const script: Script = async ({ ids, report }) => {
    await report(...ids)
    return { status: 'failed', error: 'no model answered' }
  }
  const { running, rules } = await tapline(on, on.project('a'), script)
  const here = await rules.store.add({ condition: 'c', action: 'deploy', cwd: on.project('a') })
  await rules.store.add({ condition: 'c', action: 'a', cwd: join(on.project('a'), 'gone') })
  running.pipeline.admit(push({ traceId: 'trace' }))
  const findings = await until(() => {
    const found = linesOf<{ run_id: string; text: string; cwd: string }>(join(on.loopsDir, 'inbox.jsonl'))
    return found.length === 2 ? found : undefined
  })
  const texts = findings.map(({ text }) => text).join('\n')
  expect(texts).toContain('is missing')
  expect(texts).toContain(
    `the action of ${here.id} (deploy) may be incomplete and is not repeated: no model answered`,
  )
  expect(new Set(findings.map(({ run_id }) => run_id))).toEqual(new Set(['trace', 'trace/2']))
  expect(new Set(findings.map(({ cwd }) => cwd))).toEqual(
    new Set([on.project('a'), join(on.project('a'), 'gone')]),
  )
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolNames, transcript } from '../../drivers/chat.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { booksOf, booksSay, isPush, sourceOf, startSource } from '../pushes/source.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import {
  audited,
  chatRequests,
  checks,
  inboxHolds,
  isCheck,
  reports,
  ruleId,
  settledChecks,
  storedRules,
  taskOf,
  writeRules,
} from './rules.ts'

const web = (url: string, more: object = {}) => ({ web: { kind: 'streamable_http', endpoint: url, ...more } })
const config = (stage: Stage, text: string) => void stage.scratch.write('agent/loops/config.toml', text)

describe('a push with the default policy in the real pi', () => {
  it('is evaluated once by a sub-agent, whose report disarms the rule and is promoted', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const [matching, other] = [ruleId('a'), ruleId('b')]
    writeRules(
      stage,
      { id: matching, promoteToChat: true },
      { id: other, condition: 'it rains', fireOnce: false },
    )
    stage.model.script(reports([matching], 'build 7 has failed'))
    const pi = await stage.start()
    await source.heard()
    await source.push('build-7')
    await source.push('build-7')
    const message = (await pi.waitFor(isPush, PATIENCE_MS, 0)).message
    expect(message.content).toMatch(
      /^\[Trigger [\w-]{36}\] mcp:web fired notifications\/demo\/event\.\nResult: build 7 has failed/,
    )
    await settledChecks(pi)

    expect(checks(stage)).toHaveLength(2)
    expect(chatRequests(stage)).toEqual([])
    const [first] = checks(stage)
    expect(taskOf(first!)).toContain(matching)
    expect(taskOf(first!)).toContain('it rains')
    expect(taskOf(first!)).toMatch(/"payload_summary": ".*build-7/)
    expect(toolNames(first!)).toEqual(expect.arrayContaining(['read', 'report_matches', 'echo']))
    expect(toolNames(first!)).not.toContain('bash')
    const rules = storedRules(stage)
    expect(rules).toMatchObject([
      { id: matching, enabled: false, firedAt: expect.any(String) },
      { id: other, enabled: true },
    ])
    expect(rules[1]!.firedAt).toBeUndefined()
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 2, delivered: 1, deduped: 1, pending: 0 })
    const row = await audited(stage, 'completed')
    expect(row.details).toMatchObject({ matched_rule_ids: [matching], quiet: false })
    expect(readFileSync(row.details.session_file, 'utf8')).toContain('build 7 has failed')

    // Disarmed, it is not asked about again; the other one still is.
    stage.model.script(reports([], 'no dynamic trigger rule matched'))
    await source.push('build-8')
    await waitUntil(() => checks(stage).length === 4, PATIENCE_MS)
    expect(taskOf(checks(stage)[2]!)).not.toContain(matching)
    await settledChecks(pi)
    expect(pi.events.filter(isPush)).toHaveLength(1)
  })

  it('stays out of the chat unless a rule promotes it', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, {})
    stage.model.script(reports([ruleId('1')], 'nobody is to see this'))
    const pi = await stage.start()
    await source.heard()
    await source.push('quiet')
    expect((await audited(stage, 'skipped')).details.reason).toBe('no rule promotes')
    await settledChecks(pi)
    expect(pi.events.filter(isPush)).toEqual([])
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false })
  })

  it('asks nobody where the project has no rule, and says so', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { enabled: false }, { cwd: '/somewhere/else' })
    const pi = await stage.start()
    await source.heard()
    await source.push('unheard')
    await booksSay(pi, 'web', 'dropped', 1)
    const [shown = ''] = await pi.command('/triggers sources')
    expect(shown).toMatch(/demo\/event <unheard>: dropped .*\(no rules\)/)
    expect(stage.model.requests()).toEqual([])
  })

  it('makes up no match from what a model says, and waits to be checked once more', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { promoteToChat: true })
    const id = ruleId('1')
    // Neither words nor the ids of others mean anything.
    const stranger = { name: 'report_matches', args: { matches: [{ id: ruleId('f') }] } }
    stage.model.script([
      { when: isCheck, toolCalls: [stranger, { name: 'report_matches', args: { matches: 'all' } }] },
      { when: isCheck, text: `matched ${id}, I am sure` },
    ])
    const pi = await stage.start()
    await source.heard()
    await source.push('nonsense')
    const row = await audited(stage, 'failed')
    expect(row.details).toMatchObject({
      matched_rule_ids: [],
      error: expect.stringContaining('report_matches'),
    })
    await settledChecks(pi)
    expect(storedRules(stage)[0]).toMatchObject({ enabled: true, consecutiveFailures: 1 })
    expect(pi.events.filter(isPush)).toEqual([])
    expect((await pi.command('/triggers running'))[0]).toMatch(/pushes for rules \(1\):\n .*nonsense/)
  })

  it('does not repeat what had begun when time is up, and does not lose it', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { timeoutMs: 1_500, promoteToChat: true })
    const [report] = reports([ruleId('1')], '')
    stage.model.script([report!, { when: isCheck, text: 'working on it', hold: 'forever' }])
    const pi = await stage.start()
    await source.heard()
    await source.push('slow')
    const [entry] = await inboxHolds(stage, 1)
    expect(JSON.stringify(entry)).toContain('may be incomplete')
    await settledChecks(pi)
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false, firedAt: expect.any(String) })
    expect(checks(stage)).toHaveLength(2)
    expect(pi.events.filter(isPush)).toEqual([])
  })

  it('ends when a person aborts it, and only then', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, {})
    stage.model.script([{ when: isCheck, text: 'thinking', hold: 'long' }])
    const pi = await stage.start()
    await source.heard()
    await source.push('long')
    await stage.model.held('long')
    const [running = ''] = await pi.command('/triggers running')
    const trace = /^ {2}([\w-]{36}) mcp:web notifications\/demo\/event · \d+/m.exec(running)?.[1] ?? ''
    expect(running).toMatch(/^1 of 3 sub-agent slot\(s\) in use\n/)
    expect(running).toMatch(/^ {6}watch: .*triggers-project-/m)
    expect(await pi.command('/triggers abort ffffffff')).toEqual([expect.stringContaining('ffffffff')])
    expect(await pi.command(`/triggers abort ${trace.slice(0, 8)}`)).toEqual([
      `aborted 1: ${trace.slice(0, 8)}`,
    ])
    expect((await audited(stage, 'aborted')).traceId).toBe(trace)
    await settledChecks(pi)
    expect(await pi.command('/triggers abort --all')).toEqual(['Nothing is running here.'])
    expect(storedRules(stage)[0]).toMatchObject({ enabled: true })
    expect(storedRules(stage)[0]!.consecutiveFailures).toBeUndefined()
    expect(checks(stage)).toHaveLength(1)
  })
})

describe('the daily budget in the real pi', () => {
  const models = (url: string) => {
    const cost = { input: 1_000, output: 2_000, cacheRead: 0, cacheWrite: 0 }
    const model = { id: 'fake-1', contextWindow: 128_000, maxTokens: 4096, input: ['text'], cost }
    return { fake: { api: 'openai-completions', apiKey: 'sk-not-real', baseUrl: url, models: [model] } }
  }

  it('counts turns that pushes start, and then refuses them: they end in the inbox, summaries go on', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url, { push: { default: 'run', 'notifications/demo/free': 'summary' } }))
    config(stage, '[limits]\ndaily_budget_usd = 0.02\n')
    const pi = await stage.start({ models: models(stage.model.url) })
    await source.heard()
    await source.push('paid')
    await stage.model.waitForRequest(undefined, PATIENCE_MS)
    await waitUntil(async () => !(await pi.send('get_state')).data.isStreaming, PATIENCE_MS)
    const status = async () => (await pi.command('/triggers status')).join('\n')
    await waitUntil(async () => (await status()).includes('spent $0.0200 of $0.0200 today'), PATIENCE_MS)

    await source.push('refused')
    const [entry] = await inboxHolds(stage, 1)
    expect(JSON.stringify(entry)).toContain('refused')
    await booksSay(pi, 'web', 'redirected', 1)
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 2, delivered: 1, redirected: 1 })
    expect(JSON.stringify(entry)).toContain('the daily budget of $0.02 is spent')
    expect(await sourceOf(pi, 'web')).toMatch(
      /<refused>: redirected to inbox \(the daily budget of \$0\.02 is spent\)/,
    )
    await source.notify('notifications/demo/free', { _meta: { pi_dedup_key: 'free' } })
    await booksSay(pi, 'web', 'delivered', 2)
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('stops rules too: no sub-agent is started once it is spent', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    config(stage, '[limits]\ndaily_budget_usd = 0.03\n')
    writeRules(stage, { fireOnce: false })
    stage.model.script([...reports([], 'no dynamic trigger rule matched')])
    const pi = await stage.start({ models: models(stage.model.url) })
    await source.heard()
    await source.push('first')
    await audited(stage, 'completed')
    await settledChecks(pi)
    await source.push('second')
    await audited(stage, 'budget_exceeded')
    expect(checks(stage)).toHaveLength(2)
    expect(transcript(checks(stage)[0]!)).toContain('first')
    await booksSay(pi, 'web', 'pending', 0)
  })
})

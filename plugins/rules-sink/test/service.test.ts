import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigState } from '@tapline/core'
import { files } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { type Rules, rulesSink } from '../src/index.ts'
import { gate, machine, push, type Script, session, until } from './support.ts'

describe('a check that a person asks for', () => {
  it('is made at once, of one rule, whatever the interval and the back-off say', async () => {
    const on = machine()
    const script: Script = async ({ ids, report }) => {
      await report(...ids)
      return { text: 'found', costUsd: 0.25, transcript: '/tmp/t.jsonl' }
    }
    const one = await session({ on, cwd: on.project('a'), script })
    const rule = await one.add()
    await one.add()
    const started = await one.rules.runNow(rule.id)
    if (!('done' in started)) throw new Error(started.refused)
    expect(await started.done).toEqual({
      traceId: started.traceId,
      status: 'completed',
      matchedRuleIds: [rule.id],
      costUsd: 0.25,
      transcript: '/tmp/t.jsonl',
      text: 'found',
    })
    expect(one.agents.tasks).toHaveLength(1)
    expect(one.audit.find(({ state }) => state === 'completed')).toMatchObject({
      sourceLabel: 'local:dynamic',
      summary: 'found',
      details: { session_file: '/tmp/t.jsonl', cost_usd: 0.25, quiet: false },
    })
    expect(existsSync(join(on.loopsDir, 'polls.json'))).toBe(false)
    await until(() => one.rules.queue().length === 0)
  })

  it('is refused in a sentence', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report }) => {
      await go.promise
      await report()
    }
    const one = await session({ on, cwd: on.project('a'), script, options: { max_concurrent_runs: 1 } })
    const refusal = async (id: string): Promise<string> => {
      const started = await one.rules.runNow(id)
      return 'refused' in started ? started.refused : 'begun'
    }
    const rule = await one.add()
    const other = await one.add({ cwd: on.project('b') })
    const off = await one.add()
    await one.rules.store.setEnabled(off.id, false)
    expect(await refusal('dyn-none')).toBe('There is no such rule any more.')
    expect(await refusal(off.id)).toBe(`Rule ${off.id} is disabled. Enable it first.`)
    expect(await refusal(other.id)).toContain('belongs to another project')
    expect(await refusal(rule.id)).toBe('begun')
    expect(await refusal(rule.id)).toBe('All 1 slots for sub-agents are in use; try again when one is free.')
    go.resolve()
    const without = await session({ on, cwd: on.project('a'), withoutAgents: true })
    expect(await without.rules.runNow(rule.id)).toMatchObject({
      refused: expect.stringContaining('No sub-agent can run in this session'),
    })
  })
})

describe('what is shown', () => {
  it('are the facts of this project', async () => {
    const on = machine()
    const one = await session({
      on,
      cwd: on.project('a'),
      options: { poll_interval_secs: 120, daily_budget_usd: 4 },
    })
    const two = await session({ on, cwd: on.project('a') })
    await one.add()
    await one.add({ fireOnce: false, promoteToChat: true })
    const off = await one.add()
    await one.rules.store.setEnabled(off.id, false)
    await one.add({ cwd: on.project('b') })
    const status = one.rules.status()
    expect(status).toEqual({
      rules: { total: 3, enabled: 2, disabled: 1, fireOnce: 2, repeat: 1, promote: 1 },
      active: true,
      checker: { pid: process.pid, self: expect.any(Boolean) },
      pollIntervalSecs: 120,
      running: 0,
      limit: 3,
      waiting: 0,
      budget: { spentUsd: 0, capUsd: 4 },
      storagePath: join(on.loopsDir, 'triggers.json'),
      auditPath: join(on.loopsDir, 'triggers-audit.jsonl'),
    })
    // The same pid twice: the window with the lower instance checks, and both say so.
    expect(two.rules.status().checker.self).toBe(!status.checker.self)
  })

  it('is told of when it changes, until nobody wants to know', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    let changes = 0
    const stop = one.rules.onChange(() => {
      changes++
      throw new Error('a listener that throws')
    })
    await one.add()
    expect(changes).toBeGreaterThan(0)
    const before = changes
    await one.push(push())
    await until(() => one.states().includes('completed'))
    expect(changes).toBeGreaterThan(before)
    await until(() => one.rules.queue().length === 0)
    stop()
    const after = changes
    one.rules.recordSpend(1)
    expect(changes).toBe(after)
  })

  it('hides secrets and line breaks in what a run is about', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report }) => {
      await go.promise
      await report()
    }
    const one = await session({ on, cwd: on.project('a'), script })
    await one.add({ condition: 'the key\nsk-secret1 leaks', action: 'x'.repeat(500) })
    await one.push(push())
    const [run] = await until(() => (one.rules.running().length > 0 ? one.rules.running() : undefined))
    expect(run?.promptPreview).toMatch(
      /^notifications\/build build 7 failed: the key \[REDACTED:api-key\] leaks → x+…$/,
    )
    expect(run?.promptPreview.length).toBe(200)
    expect(run?.transcript).toMatch(/sessions\/triggers-a-[0-9a-f]{8}$/)
    go.resolve()
  })
})

describe('options', () => {
  const open = async (options: Record<string, unknown>, delivers = true) => {
    const on = machine()
    let rules: Rules | undefined
    const paths = { cwd: on.project('a'), home: on.home, agentDir: on.root, loopsDir: join(on.root, 'none') }
    const { kernel, dispose } = await testKernel(rulesSink({ onReady: (ready) => (rules = ready) }), {
      host: { paths, files, delivers },
      options: { 'rules-sink': options },
    })
    const state: ConfigState = { servers: [], diagnostics: [], questions: [] }
    const configured = await kernel.hooks.config.promise(state, {} as never)
    return { on, kernel, dispose, rules: rules as unknown as Rules, said: configured?.diagnostics ?? [] }
  }

  it.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ poll_interval_secs: 60, run_timeout_secs: 5, max_concurrent_runs: 1, daily_budget_usd: 0.5 }, []],
    [{ poll_interval_secs: 0 }, ['poll_interval_secs']],
    [{ run_timeout_secs: '5' }, ['run_timeout_secs']],
    [{ max_concurrent_runs: 1.5 }, ['max_concurrent_runs']],
    [{ daily_budget_usd: -1, poll_interval_secs: Number.NaN }, ['poll_interval_secs', 'daily_budget_usd']],
    [{ max_concurrent_runs: 1e9, budget: 5 }, ['budget', 'max_concurrent_runs']],
  ])('that are wrong are told of, and their defaults count: %j', async (options, wrong) => {
    const { said, rules, dispose } = await open(options)
    expect(said).toHaveLength(wrong.length)
    for (const name of wrong) expect(said.some(({ message }) => message.includes(name))).toBe(true)
    const { limit, pollIntervalSecs } = rules.status()
    expect(limit).toBe(wrong.includes('max_concurrent_runs') ? 3 : (options.max_concurrent_runs ?? 3))
    expect(pollIntervalSecs).toBe(
      wrong.includes('poll_interval_secs') ? 600 : (options.poll_interval_secs ?? 600),
    )
    await dispose()
  })

  it('where pushes are not delivered, nothing runs by itself and nothing is written', async () => {
    const { on, dispose, rules } = await open({}, false)
    expect(rules.status()).toMatchObject({ active: false, rules: { total: 0 } })
    expect(existsSync(join(on.root, 'none'))).toBe(false)
    await dispose()
    expect(readdirSync(on.root).toSorted()).toEqual(['a', 'home', 'loops'])
  })
})

it('ends within its time, also when a sub-agent does not', async () => {
  const on = machine()
  const one = await session({
    on,
    cwd: on.project('a'),
    script: () => new Promise(() => undefined),
    timing: { endMs: 60_000 },
  })
  await one.add()
  await one.push(push())
  await until(() => one.rules.running().length === 1)
  const at = performance.now()
  await one.close()
  expect(performance.now() - at).toBeLessThan(8_000)
  expect(on.state('trigger-queue.json')).toMatchObject({ items: [{ parts: {} }] })
  const later = await session({ on, cwd: on.project('a') })
  await until(() => later.states().includes('completed'))
})

import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { files } from '@tapline/core'
import { describe, expect, it, vi } from 'vitest'
import { openSpending } from '../src/budget/spending.ts'
import { createTroubles } from '../src/troubles.ts'
import { localDay } from '../src/stamps.ts'
import { gate, machine, push, type Script, session, until } from './support.ts'

const today = (): string => localDay(Date.now())

describe('the daily budget', () => {
  it('sends a push to the inbox when it is spent, and skips periodic checks', async () => {
    const on = machine()
    writeFileSync(join(on.loopsDir, 'spend.json'), JSON.stringify({ [today()]: 2.5 }))
    const one = await session({
      on,
      cwd: on.project('a'),
      options: { daily_budget_usd: 2 },
      timing: { tickMs: 20 },
    })
    const rule = await one.add()
    const refused = "not checked against rules: today's budget is spent"
    expect(await one.push(push())).toEqual({ sink: 'rules', refused })
    await until(() => one.audit.filter(({ state }) => state === 'budget_exceeded').length === 2)
    for (const row of one.audit) expect(row.details).toMatchObject({ spent_usd: 2.5, cap_usd: 2 })
    expect(new Set(one.audit.map(({ sourceLabel }) => sourceLabel))).toEqual(
      new Set(['local:dynamic', 'mcp:builds']),
    )
    expect(one.rules.overBudget()).toBe(true)
    expect(one.rules.status().budget).toEqual({ spentUsd: 2.5, capUsd: 2 })
    expect(await one.rules.runNow(rule.id)).toEqual({ refused: "Today's budget of $2.00 is spent ($2.50)." })
    expect(one.agents.tasks).toEqual([])
  })

  it('is asked again when a push that waited begins to be checked', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report }) => {
      await go.promise
      await report()
      return { costUsd: 3 }
    }
    const one = await session({
      on,
      cwd: on.project('a'),
      script,
      options: { daily_budget_usd: 2, max_concurrent_runs: 1 },
    })
    await one.add()
    await one.push(push())
    await until(() => one.rules.running().length === 1)
    await one.push(push({ traceId: 'waited' }))
    go.resolve()
    const [line] = await until(() => (one.inbox.length > 0 ? one.inbox : undefined))
    expect(line).toMatchObject({
      trigger: { traceId: 'waited' },
      reason: "not checked: today's budget is spent",
    })
    expect(one.agents.tasks).toHaveLength(1)
    expect(one.audit.find(({ state }) => state === 'budget_exceeded')).toMatchObject({ traceId: 'waited' })
  })

  it('ends a run that exceeds it, counting what other runs have cost so far', async () => {
    const on = machine()
    const both = gate()
    const answers: (boolean | undefined)[] = []
    const script: Script = async ({ task, turn, ids, report }) => {
      if (turn === 1) both.resolve()
      await both.promise
      answers.push(task.onCost?.(0.6))
      await report(...(turn === 1 ? ids : []))
      answers.push(task.onCost?.(1.1))
      return answers.at(-1) ? { costUsd: 1.1 } : { status: 'aborted', costUsd: 1.1 }
    }
    const one = await session({ on, cwd: on.project('a'), script, options: { daily_budget_usd: 2 } })
    const rule = await one.add({ fireOnce: false })
    await one.push(push({ traceId: 'one' }))
    await one.push(push({ traceId: 'two' }))
    await until(() => one.rules.running().length === 0 && answers.length === 4)
    expect(answers).toContain(false)
    await until(() => one.states().includes('aborted'))
    const aborted = one.audit.find(({ state }) => state === 'aborted')
    expect(aborted?.details).toMatchObject({ error: "today's budget is spent", cost_usd: 1.1 })
    await until(() => one.inbox.length > 0)
    expect(one.inbox[0]?.reason).toContain("today's budget is spent")
    expect(one.rules.store.get(rule.id)?.consecutiveFailures).toBeUndefined()
    await until(
      () => Math.abs(((on.state('spend.json') as Record<string, number>)[today()] ?? 0) - 2.2) < 1e-9,
    )
  })

  it('counts what the chat spends, in every window, and there is none where none was set', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a'), options: { daily_budget_usd: 1 } })
    const two = await session({ on, cwd: on.project('b'), options: { daily_budget_usd: 1 } })
    const free = await session({ on, cwd: on.project('c') })
    one.rules.recordSpend(0.75)
    expect(one.rules.overBudget()).toBe(false)
    one.rules.recordSpend(0.5)
    expect(one.rules.overBudget()).toBe(true)
    await until(() => two.rules.overBudget())
    expect(free.rules.overBudget()).toBe(false)
    for (const nonsense of [Number.NaN, -5, Number.POSITIVE_INFINITY]) one.rules.recordSpend(nonsense)
    expect(one.rules.status().budget.spentUsd).toBe(1.25)
  })
})

describe('spend.json', () => {
  it('is kept for a week, by local day, and knows no days to come', async () => {
    const on = machine()
    const day = 86_400_000
    const old = {
      [localDay(Date.now() - 8 * day)]: 1,
      [localDay(Date.now() + 5 * day)]: 1,
      [today()]: 'much',
    }
    writeFileSync(join(on.loopsDir, 'spend.json'), JSON.stringify(old))
    const spending = openSpending(
      { files, loopsDir: on.loopsDir },
      1,
      createTroubles(() => undefined),
    )
    expect(spending.isOver()).toBe(false)
    spending.record(0.25)
    spending.record(0.25)
    await spending.flush()
    expect(on.state('spend.json')).toEqual({ [today()]: 0.5 })
  })

  it('loses nothing when many write, and counts on when it cannot be written', async () => {
    const on = machine()
    const problems: string[] = []
    const troubles = createTroubles((problem) => problems.push(problem))
    const open = () => openSpending({ files, loopsDir: on.loopsDir }, 10, troubles)
    const many = Array.from({ length: 5 }, open)
    for (const spending of many) for (let n = 0; n < 10; n++) spending.record(0.01)
    await Promise.all(many.map((spending) => spending.flush()))
    expect(many[0]?.spentUsd()).toBeCloseTo(0.5)
    const other = machine()
    const path = join(other.loopsDir, 'spend.json')
    mkdirSync(path)
    const stuck = openSpending({ files, loopsDir: other.loopsDir }, 1, troubles)
    stuck.record(1)
    await stuck.flush()
    expect(stuck.isOver()).toBe(true)
    expect(problems.some((problem) => problem.includes('spend.json cannot be'))).toBe(true)
    rmdirSync(path)
    stuck.record(0.5)
    await stuck.flush()
    expect(other.state('spend.json')).toEqual({ [today()]: 1.5 })
  })

  it('begins anew at midnight', async () => {
    const on = machine()
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 10, 30, 23, 59, 59) })
    try {
      const spending = openSpending(
        { files, loopsDir: on.loopsDir },
        1,
        createTroubles(() => undefined),
      )
      spending.record(1)
      expect(spending.isOver()).toBe(true)
      vi.setSystemTime(new Date(2026, 11, 1, 0, 0, 1))
      expect(spending.isOver()).toBe(false)
      await spending.flush()
      expect(on.state('spend.json')).toEqual({ '2026-11-30': 1 })
    } finally {
      vi.useRealTimers()
    }
  })
})

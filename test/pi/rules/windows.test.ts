import { describe, expect, it } from 'vitest'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { booksOf, isPush, startSource, type PushSource } from '../pushes/source.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import {
  audited,
  auditRows,
  chatRequests,
  checks,
  inboxHolds,
  isCheck,
  reports,
  ruleId,
  settledChecks,
  storedRules,
  writeRules,
} from './rules.ts'

const SHOWN = 'notifications/demo/shown'

/** Three pis in one project that all hear one server: what it shows is a summary, all else is for rules. */
async function openWindows(stage: Stage, source: PushSource): Promise<readonly Pi[]> {
  const push = { default: 'rules', [SHOWN]: 'summary' }
  stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, push } })
  const windows = await Promise.all([stage.start(), stage.start(), stage.start()])
  const listening = async () => (await source.control({ do: 'status' })).streams === windows.length
  await waitUntil(listening, PATIENCE_MS, 'all windows to listen')
  return windows
}

const texts = (pi: Pi) => pi.events.filter(isPush).map(({ message }) => String(message.content))

/** The windows in which a check runs. */
async function checking(windows: readonly Pi[]): Promise<readonly Pi[]> {
  const running = await Promise.all(windows.map(async (pi) => (await pi.command('/triggers running')).join()))
  return windows.filter((_, index) => running[index]!.startsWith('1 of'))
}

/** Sessions of sub-agents: each begins with a request that holds nothing but its task. */
function begun(stage: Stage): number {
  return checks(stage).filter(({ body }) => body.messages.every(({ role }) => role !== 'assistant')).length
}

describe('three windows of one project', () => {
  it('show a push once each, and let a rule be evaluated once in all', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    writeRules(stage, { promoteToChat: true, fireOnce: false })
    stage.model.script(reports([ruleId('1')], 'found it'))
    const windows = await openWindows(stage, source)
    const meta = { _meta: { pi_dedup_key: 'shown', pi_summary: 'for everyone' } }
    await source.notify(SHOWN, meta)
    await source.notify(SHOWN, meta)
    await source.push('for-one')
    await source.push('for-one')
    const summaries = (pi: Pi) => texts(pi).filter((text) => text.includes('for everyone'))
    const promoted = () => windows.flatMap(texts).filter((text) => text.includes('Result: found it'))
    await waitUntil(() => windows.every((pi) => summaries(pi).length === 1), PATIENCE_MS, 'a summary in each')
    await waitUntil(
      () => promoted().length === 1,
      PATIENCE_MS,
      () => `a result; ${JSON.stringify(auditRows(stage))}`,
    )
    for (const pi of windows) await settledChecks(pi)
    for (const pi of windows) {
      await waitUntil(async () => (await booksOf(pi, 'web'))['pending'] === 0, PATIENCE_MS)
      expect((await booksOf(pi, 'web'))['received']).toBe(4)
      expect(summaries(pi)).toHaveLength(1)
    }
    const books = await Promise.all(windows.map((pi) => booksOf(pi, 'web')))
    const sum = (name: string) => books.reduce((total, book) => total + book[name]!, 0)
    // Of six arrivals of the one event, one was delivered; of six of the other, one in each window. While one window
    // delivers, equal ones that wait in another collapse.
    expect(sum('delivered')).toBe(4)
    expect(sum('deduped') + sum('collapsed')).toBe(8)
    expect(sum('redirected') + sum('dropped')).toBe(0)
    expect(begun(stage)).toBe(1)
    expect(checks(stage)).toHaveLength(2)
    expect(chatRequests(stage)).toEqual([])
    expect(promoted()).toHaveLength(1)
  })

  it('take a check over when the window that runs it is killed', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    writeRules(stage, { promoteToChat: true })
    stage.model.script([
      { when: isCheck, text: 'thinking', hold: 'killed' },
      ...reports([ruleId('1')], 'found it'),
    ])
    const windows = await openWindows(stage, source)
    await source.push('survives')
    await stage.model.held('killed')
    const [busy, ...others] = await checking(windows)
    expect(others).toEqual([])
    await busy!.kill('SIGKILL')
    const left = windows.filter((pi) => pi !== busy)
    const promoted = () => left.flatMap(texts).filter((text) => text.includes('Result: found it'))
    await waitUntil(
      () => promoted().length === 1,
      PATIENCE_MS,
      () => `a result; ${JSON.stringify(auditRows(stage))}`,
    )
    for (const pi of left) await settledChecks(pi)
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false, firedAt: expect.any(String) })
    expect(begun(stage)).toBe(2)
    expect(checks(stage)).toHaveLength(3)
    await audited(stage, 'taken_over')
  })

  it('do not repeat an action that had begun in the window that was killed, and do not lose it', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    writeRules(stage, { promoteToChat: true })
    const [report] = reports([ruleId('1')], '')
    stage.model.script([report!, { when: isCheck, text: 'acting', hold: 'acting' }])
    const windows = await openWindows(stage, source)
    await source.push('half-done')
    await stage.model.held('acting')
    const [busy] = await checking(windows)
    await busy!.kill('SIGKILL')
    const [entry, ...further] = await inboxHolds(stage, 1)
    expect(JSON.stringify(entry)).toContain('may be incomplete')
    expect(further).toEqual([])
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false, firedAt: expect.any(String) })
    expect(begun(stage)).toBe(1)
    expect(checks(stage)).toHaveLength(2)
  })
})

import { describe, expect, it } from 'vitest'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { isPush, startSource } from '../pushes/source.ts'
import { createStage, noticed, PATIENCE_MS, said, TAPLINE, type Stage } from '../stage.ts'
import {
  audited,
  auditRows,
  chatRequests,
  checks,
  inboxHolds,
  isCheck,
  reports,
  ruleId,
  storedRules,
  writeRules,
} from './rules.ts'

const web = (url: string) => ({ web: { kind: 'streamable_http', endpoint: url } })
const HELD = { when: isCheck, text: 'thinking', hold: 'check' }
const [report] = reports([ruleId('1')], '')
const RELOAD = `pi.registerCommand('again', { handler: async (_args, ctx) => ctx.reload() })`

async function promoted(pi: Pi, stage: Stage): Promise<string> {
  const find = () => pi.events.find(isPush)
  const shown = await waitUntil(find, PATIENCE_MS, () => JSON.stringify(auditRows(stage)))
  return String(shown.message.content)
}

describe('a check that runs in the real pi', () => {
  it.each<[string, (pi: Pi) => Promise<unknown>]>([
    ['/reload', (pi) => pi.prompt('/again')],
    ['a new session', (pi) => pi.send('new_session')],
  ])('is begun anew after %s, and ends once', async (_how, replace) => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { promoteToChat: true })
    stage.model.script([HELD, ...reports([ruleId('1')], 'found it')])
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('again', RELOAD)] })
    await source.heard()
    await source.push('a')
    await stage.model.held('check')
    await replace(pi)
    expect(await promoted(pi, stage)).toContain('Result: found it')
    await audited(stage, 'promoted')
    expect(auditRows(stage).filter(({ state }) => state === 'completed')).toHaveLength(1)
    expect(checks(stage)[0]!.ended).toBe('aborted')
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false })
    expect(storedRules(stage)[0]!.consecutiveFailures).toBeUndefined()
  })

  it('waits for the next pi when this one quits', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { promoteToChat: true })
    stage.model.script([HELD, ...reports([ruleId('1')], 'found it')])
    const first = await stage.start()
    await source.heard()
    await source.push('a')
    await stage.model.held('check')
    await first.close()
    expect((await audited(stage, 'aborted')).details.error).toBe('the session ended')
    const second = await stage.start()
    expect(await promoted(second, stage)).toContain('Result: found it')
  })

  it('has its action told of, not repeated, when pi quits in the middle of it', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { promoteToChat: true, fireOnce: false })
    stage.model.script([report!, HELD])
    const first = await stage.start()
    await source.heard()
    await source.push('a')
    await stage.model.held('check')
    await first.close()
    const second = await stage.start()
    const [entry] = await inboxHolds(stage, 1)
    expect(entry!.text).toMatch(/matched, but the action of .* may be incomplete and is not repeated/)
    expect(checks(stage)).toHaveLength(2)
    expect(second.events.filter(isPush)).toEqual([])
  })

  it('shows its result once the agent has stopped streaming, and starts no turn', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    writeRules(stage, { promoteToChat: true })
    stage.model.script(reports([ruleId('1')], 'found it'))
    const pi = await stage.start()
    await source.heard()
    const turn = pi.prompt('HOLD turn')
    await stage.model.held('turn')
    await source.push('a')
    await audited(stage, 'promoted')
    expect(pi.events.filter(isPush)).toEqual([])
    stage.model.release('turn')
    await turn
    expect(await promoted(pi, stage)).toContain('Result: found it')
    expect(chatRequests(stage)).toHaveLength(1)
  })
})

describe('rules that cannot be read, in the real pi', () => {
  it('lose no push, and one message says what to do', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    stage.scratch.write('agent/loops/triggers.json', '{"version":1,"rules":[')
    const pi = await stage.start()
    await source.heard()
    await source.push('a')
    const [entry] = await inboxHolds(stage, 1)
    expect(entry!.text).toMatch(
      /<a> · not checked against rules: .*triggers\.json is not a list of rules in JSON/,
    )
    expect(await noticed(pi, /triggers\.json/)).toMatch(
      /is not a list of rules in JSON[^\n]* it is kept under another name\.$/,
    )
    expect(said(pi)).toHaveLength(1)
    const why = [expect.stringContaining('is not a list of rules in JSON')]
    expect(await pi.command('/triggers run 1')).toEqual(why)
    expect(await pi.command('/triggers enable dyn-1')).toEqual(why)
    expect(await pi.command('/triggers remove --all')).toEqual(why)
  })
})

import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { trustStore } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import type { Pi } from '../../drivers/pi.ts'
import { processAlive, waitUntil } from '../../drivers/processes.ts'
import {
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  type ServerLog,
  type Stage,
  tomlOf,
  toolAnswer,
} from '../stage.ts'
import {
  checks,
  inboxHolds,
  isCheck,
  reports,
  ruleId,
  settledChecks,
  storedRules,
  writeRules,
} from './rules.ts'
import { startProbed } from './sub-agents.ts'

const RULE = ruleId('1')

/** Another project with a server of its own, which nobody was asked about yet. */
interface Other {
  readonly cwd: string
  /** Its `.pi/mcp.toml`. */
  readonly path: string
  readonly log: ServerLog
}

function otherProject(stage: Stage): Other {
  const log = stage.log('lent')
  const file = stage.scratch.write('other/.pi/mcp.toml', tomlOf({ lent: misbehaving('--log', log.path) }))
  return { cwd: realpathSync(path.dirname(path.dirname(file))), path: file, log }
}

/** Has a person who opens that project say yes to it. */
async function trusted(stage: Stage, { cwd, log }: Other): Promise<void> {
  const pi = await stage.start({ cwd, onUi: () => 'Use this file' })
  await connected(pi, 'lent')
  await pi.close()
  await ended(log)
}

/** What the person was told beside answers of `/triggers`. */
function warnings(pi: Pi): string[] {
  return said(pi).filter((text) => !/^\d+ of \d+ sub-agent slot|^enabled /.test(text))
}

async function ended(log: ServerLog): Promise<void> {
  await waitUntil(() => !log.pids().some(processAlive), PATIENCE_MS, `the end of ${log.pids().join()}`)
}

/** A rule of that project, checked every second by whoever is there while it is enabled. */
function writeRule(stage: Stage, { cwd }: Other): void {
  stage.scratch.write('agent/loops/config.toml', '[triggers]\npoll_interval_secs = 1\n')
  writeRules(stage, { id: RULE, cwd, promoteToChat: true })
}

describe('a rule of another project', () => {
  it('has the servers that the person trusted there, lent as long as they are trusted', async () => {
    await using stage = await createStage()
    const other = otherProject(stage)
    const user = stage.log('user')
    stage.toml({ mine: misbehaving('--log', user.path) })
    await trusted(stage, other)
    const before = [other.log.pids().length, user.pids().length]
    writeRule(stage, other)
    stage.model.script([
      { when: isCheck, toolCalls: [{ name: 'lent_process', args: {} }] },
      ...reports([RULE], 'it has'),
    ])
    const pi = await stage.start()
    await connected(pi, 'mine')
    const [finding] = await inboxHolds(stage, 1)
    expect(finding).toMatchObject({ cwd: other.cwd, text: expect.stringContaining('it has') })
    await settledChecks(pi)
    const [first, second] = checks(stage)
    // The session's server has the names that it has in the session, the lent one others.
    expect(toolNames(first!)).toEqual(
      expect.arrayContaining(['echo', 'process', 'lent_echo', 'lent_process']),
    )
    expect(JSON.parse(toolAnswer(second!)).cwd).toBe(other.cwd)
    // What the session has is not opened a second time.
    expect([other.log.pids().length, user.pids().length]).toEqual([before[0]! + 1, before[1]! + 1])
    const lent = other.log.pids().at(-1)!
    expect(processAlive(lent)).toBe(true)

    stage.model.script(reports([RULE], 'once more'))
    await pi.command(`/triggers enable ${RULE}`)
    await inboxHolds(stage, 2)
    await settledChecks(pi)
    expect(toolNames(checks(stage).at(-1)!)).toContain('lent_echo')
    expect(other.log.pids().at(-1)).toBe(lent)
    expect(warnings(pi)).toEqual([])

    const question = { path: other.path, directory: other.cwd, content: readFileSync(other.path, 'utf8') }
    await trustStore(stage.scratch.agent).save(question, false)
    for (const round of [3, 4]) {
      stage.model.script(reports([RULE], `round ${round}`))
      await pi.command(`/triggers enable ${RULE}`)
      await inboxHolds(stage, round)
      await settledChecks(pi)
      expect(toolNames(checks(stage).at(-1)!).filter((name) => name.startsWith('lent_'))).toEqual([])
    }
    await ended(other.log)
    expect(other.log.pids().at(-1)).toBe(lent)
    expect(warnings(pi)).toEqual([
      `In ${other.cwd}: .pi/mcp.toml is not used for sub-agents that work there: somebody said no to it.`,
    ])
  })

  it('has nothing of a project that nobody said yes to, not even with --approve, and says so once', async () => {
    await using stage = await createStage()
    const other = otherProject(stage)
    writeRule(stage, other)
    stage.model.script(reports([RULE], 'first'))
    const pi = await stage.start({ args: ['--approve'] })
    await inboxHolds(stage, 1)
    stage.model.script(reports([RULE], 'second'))
    await pi.command(`/triggers enable ${RULE}`)
    await inboxHolds(stage, 2)
    await settledChecks(pi)
    expect(checks(stage)).toHaveLength(4)
    for (const request of checks(stage)) expect(toolNames(request)).not.toContain('echo')
    expect(other.log.entries()).toEqual([])
    await noticed(pi, /nobody said yes/)
    expect(warnings(pi)).toEqual([
      `In ${other.cwd}: .pi/mcp.toml is not used for sub-agents that work there: nobody said yes to it; a pi that is started there asks.`,
    ])
    expect(storedRules(stage)[0]).toMatchObject({ enabled: false })
  })
})

describe('mcp.json of another project', () => {
  it('is used for a sub-agent where pi was told to trust exactly that directory, and ends with the session', async () => {
    await using stage = await createStage()
    const log = stage.log('lent')
    const lent = { ...misbehaving('--log', log.path), exposure: 'direct' }
    stage.scratch.write('other/.pi/mcp.json', { mcpServers: { lent } })
    const [root, cwd] = [stage.scratch.root, path.join(stage.scratch.root, 'other')].map((at) =>
      realpathSync(at),
    ) as [string, string]
    mkdirSync(path.join(cwd, 'below'))
    const probed = await startProbed(stage)
    const namesAt = async (directory: string): Promise<readonly string[]> => {
      expect(await probed.run({ prompt: 'look', cwd: directory })).toMatchObject({ status: 'completed' })
      return toolNames(stage.model.requests().at(-1)!)
    }
    stage.scratch.write('agent/trust.json', { [root]: true })
    expect(await namesAt(cwd)).not.toContain('mcp__lent__echo')
    expect(log.entries()).toEqual([])
    expect(await noticed(probed.pi, /mcp\.json/)).toContain('pi has saved no yes to exactly this project')
    stage.scratch.write('agent/trust.json', { [root]: false, [cwd]: true })
    expect(await namesAt(cwd)).toContain('mcp__lent__echo')
    expect(await namesAt(path.join(cwd, 'below'))).not.toContain('mcp__lent__echo')
    expect(log.pids()).toHaveLength(1)
    await probed.pi.close()
    await ended(log)
  })

  it('changes for a sub-agent there what it has of the person’s own servers, without a second connection', async () => {
    await using stage = await createStage()
    const log = stage.log('kept')
    stage.json({
      quiet: { ...misbehaving(), exposure: 'direct' },
      kept: { ...misbehaving('--log', log.path), exposure: 'direct' },
      asleep: { ...misbehaving(), enabled: false },
    })
    stage.scratch.write('other/.pi/mcp.json', {
      mcpServers: {
        quiet: { enabled: false },
        kept: { exposure: 'hidden', toolExposure: { echo: 'direct' } },
        asleep: { enabled: true },
      },
    })
    const cwd = realpathSync(path.join(stage.scratch.root, 'other'))
    stage.scratch.write('agent/trust.json', { [cwd]: true })
    const probed = await startProbed(stage)
    await connected(probed.pi, 'quiet', 'kept')
    const namesAt = async (directory: string): Promise<readonly string[]> => {
      expect(await probed.run({ prompt: 'look', cwd: directory })).toMatchObject({ status: 'completed' })
      return toolNames(stage.model.requests().at(-1)!).filter((name) => name.startsWith('mcp__'))
    }
    const here = await namesAt(stage.scratch.project)
    expect(here).toEqual(
      expect.arrayContaining(['mcp__quiet__echo', 'mcp__kept__echo', 'mcp__kept__process']),
    )
    expect(here.filter((name) => name.startsWith('mcp__asleep__'))).toEqual([])
    const there = await namesAt(cwd)
    expect(there).toEqual(expect.arrayContaining(['mcp__kept__echo', 'mcp__asleep__echo']))
    expect(there.filter((name) => /^mcp__(?:quiet__|kept__(?!echo))/.test(name))).toEqual([])
    stage.model.script([
      { toolCalls: [{ name: 'mcp__kept__echo', args: { text: 'the one that is there' } }] },
      { text: 'done' },
    ])
    expect(await probed.run({ prompt: 'call', cwd })).toMatchObject({ status: 'completed' })
    expect(toolAnswer(stage.model.requests().at(-1)!)).toBe('the one that is there')
    expect(log.pids()).toHaveLength(1)
    expect(warnings(probed.pi).filter((notice) => !notice.startsWith('OUTCOME'))).toEqual([])
  })
})

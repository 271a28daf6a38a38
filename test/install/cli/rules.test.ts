import { mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { Rule } from '@tapline/rules-sink'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

const FILE = 'agent/loops/triggers.json'
const id = (start: string): string => `dyn-${start.padEnd(32, '0')}`

/** Rules as another program may have written them. */
function writeRules(scratch: Scratch, ...rules: readonly Partial<Rule>[]): void {
  const whole = { condition: 'the build is red', action: 'say so', enabled: true, fireOnce: true }
  scratch.write(FILE, { version: 1, rules: rules.map((rule) => ({ ...whole, ...rule })) })
}

const rulesIn = (scratch: Scratch): Rule[] =>
  (JSON.parse(readFileSync(path.join(scratch.root, FILE), 'utf8')) as { rules: Rule[] }).rules

describe('tapline rules', () => {
  it('lists the rules of this project, or of every one, and starts no server', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const log = path.join(scratch.root, 'log.jsonl')
    scratch.write('agent/mcp.json', { mcpServers: { hub: stdioEntry(servers.misbehaving, '--log', log) } })
    const project = realpathSync(scratch.project)
    writeRules(
      scratch,
      { id: id('aa'), cwd: project, condition: 'x \u001B[31mred', promoteToChat: true },
      { id: id('bb'), cwd: '/work/other' },
      {
        id: id('cc'),
        cwd: project,
        enabled: false,
        fireOnce: false,
        disabledReason: 'its directory is gone',
      },
    )
    const text = await runTapline(['rules'], { scratch })
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toBe(
      [
        `Rules of ${scratch.project}: 2`,
        `  ${id('aa')}  enabled, fire_once, promote_to_chat  ${project}`,
        '      when x red',
        '      then say so',
        `  ${id('cc')}  disabled, repeat, audit_only  ${project}`,
        '      when the build is red',
        '      then say so',
        '      ! its directory is gone',
        '+ 1 in other projects (--all)',
        '',
      ].join('\n'),
    )
    const json = await runTapline(['rules', 'list', '--all', '--json'], { scratch })
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(json.json()).toMatchObject({ rules: [{ id: id('aa') }, { id: id('bb') }, { id: id('cc') }] })
    expect(readdirSync(scratch.root)).not.toContain('log.jsonl')
    expect(readdirSync(scratch.agent).toSorted()).toEqual(['loops', 'mcp.json'])
  })

  it.each<[string, string[], Partial<Rule>]>([
    ['two words', ['build.done exists', 'cargo test'], {}],
    ['two words around --', ['build.done exists', '--', 'cargo test'], {}],
    ['one sentence', ['when build.done exists, run cargo test'], {}],
    [
      'one sentence that says how often, and who is to hear of it',
      ['every time build.done exists, run cargo test and tell me'],
      { action: 'cargo test and tell me', fireOnce: false, promoteToChat: true },
    ],
    ['words with what nobody sees', ['build.done\u202E exists', 'cargo \u001B[1mtest\u{E0041}'], {}],
    [
      'options',
      ['--condition', 'build.done exists', '--action=cargo test', '--repeat', '--promote'],
      { fireOnce: false, promoteToChat: true },
    ],
  ])('adds a rule of %s, for the project', async (_how, words, rest) => {
    await using scratch = createScratch({ tmp: 'shared' })
    const sub = path.join(scratch.project, 'sub')
    mkdirSync(sub)
    const added = await runTapline(['rules', '--json', 'add', ...words], { scratch, cwd: sub })
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const rule = {
      condition: 'build.done exists',
      action: 'cargo test',
      enabled: true,
      fireOnce: true,
      promoteToChat: false,
      createdBy: {},
      cwd: realpathSync(sub),
      ...rest,
    }
    expect(added.json()).toMatchObject({ rule })
    expect(rulesIn(scratch)).toMatchObject([rule])
    const listed = await runTapline(['rules', '--json'], { scratch })
    expect(listed.json()).toMatchObject({ rules: [rule] })
  })

  it('disables, enables and removes by the beginning of an id, in its own project', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const project = realpathSync(scratch.project)
    writeRules(scratch, { id: id('aa'), cwd: project }, { id: id('bb'), cwd: '/work/other', model: 'a/b' })
    const disabled = await runTapline(['rules', 'disable', 'dyn-a'], { scratch })
    expect(disabled).toMatchObject({ code: 0, stderr: '' })
    expect(disabled.stdout).toMatch(/^Disabled:\n {2}dyn-aa0+ {2}disabled, fire_once/)
    expect(rulesIn(scratch)[0]).toMatchObject({ enabled: false })
    const enabled = await runTapline(['rules', 'enable', id('aa'), '--json'], { scratch })
    expect(enabled.json()).toMatchObject({ rule: { id: id('aa'), enabled: true } })
    const foreign = await runTapline(['rules', 'remove', 'dyn-bb'], { scratch })
    expect(foreign).toMatchObject({ code: 1, stdout: '' })
    expect(foreign.stderr).toBe("no dynamic trigger rule with id 'dyn-bb'\n")
    const removed = await runTapline(['rules', 'remove', id('bb'), '--json'], { scratch })
    expect(removed.json()).toMatchObject({ rule: { id: id('bb'), model: 'a/b' } })
    expect(rulesIn(scratch)).toMatchObject([{ id: id('aa') }])
  })

  it.each<[string, string[], number, string]>([
    ['a number', ['remove', '1'], 1, "no dynamic trigger rule with id '1'"],
    ['nothing', ['enable'], 1, 'Say which rule'],
    ['an ambiguous beginning', ['disable', 'dyn-a'], 1, "2 rules begin with 'dyn-a'"],
    ['no words', ['add'], 1, 'Say what must hold and what is then done'],
    ['half a rule', ['add', '--condition', 'x'], 1, 'Say what must hold and what is then done'],
    ['words that are no rule', ['add', 'just words'], 1, 'Say what must hold and what is then done'],
    ['three words', ['add', 'a', 'b', 'c'], 1, 'Say what must hold and what is then done'],
    ['a fixed time', ['add', 'every hour', 'run the tests'], 1, 'use /cron add'],
    ['more than one id', ['remove', id('a1'), id('a2')], 2, 'takes one id'],
    ['words after list', ['list', 'everything'], 2, 'takes no words'],
    ['another command', ['drop'], 2, 'tapline rules has no command "drop"'],
  ])('refuses %s in a sentence and changes nothing', async (_what, args, code, sentence) => {
    await using scratch = createScratch({ tmp: 'shared' })
    const project = realpathSync(scratch.project)
    writeRules(scratch, { id: id('a1'), cwd: project }, { id: id('a2'), cwd: project })
    const before = readFileSync(path.join(scratch.root, FILE), 'utf8')
    const ran = await runTapline(['rules', ...args], { scratch })
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain(sentence)
    expect(readFileSync(path.join(scratch.root, FILE), 'utf8')).toBe(before)
  })

  it('says what it cannot read, and keeps it when a rule is added', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write(FILE, '{"version":1,"rules":[')
    const listed = await runTapline(['rules', '--json'], { scratch })
    expect(listed.code).toBe(1)
    expect(listed.json()).toEqual({ error: expect.stringContaining('is not a list of rules in JSON') })
    const added = await runTapline(['rules', 'add', 'x exists', 'say so'], { scratch })
    expect(added.code).toBe(0)
    expect(added.stderr).toContain('could not be used; what stood there is now')
    const kept = readdirSync(path.join(scratch.agent, 'loops')).find((name) => name.includes('unreadable'))
    expect(readFileSync(path.join(scratch.agent, 'loops', kept ?? ''), 'utf8')).toBe('{"version":1,"rules":[')
    expect(rulesIn(scratch)).toHaveLength(1)
  })
})

import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import type { UiRequest } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { startSource } from '../pushes/source.ts'
import { createStage, misbehaving, PATIENCE_MS, said } from '../stage.ts'
import { checks, isCheck, reports, ruleId, settledChecks, storedRules, taskOf, writeRules } from './rules.ts'

describe('/new-trigger in the real pi', () => {
  it('makes a rule of a sentence with clear words, once the person has confirmed it', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    expect(await pi.command('/new-trigger')).toEqual([expect.stringMatching(/^usage: \/new-trigger </)])
    const asked: UiRequest[] = []
    pi.answer((request) => {
      asked.push(request)
      return 'No'
    })
    const sentence = '/new-trigger when build.done exists, then say so in one line'
    expect(await pi.command(sentence)).toEqual(['No rule was made.'])
    expect(asked).toMatchObject([
      {
        method: 'select',
        title:
          'Make this rule?\nWhen: build.done exists\nThen: say so in one line\nA background agent does this unattended.',
        // A careless Enter makes none; what the sentence says comes next.
        options: [
          'No',
          'Yes, once, and show the result in the chat',
          'Yes, once, and keep the result in the audit trail',
          'Yes, every time, and show the results in the chat',
          'Yes, every time, and keep the results in the audit trail',
        ],
      },
    ])
    pi.answer(({ options }) => options?.[1])
    const [made = ''] = await pi.command(sentence)
    await pi.command('/new-trigger whenever build.done exists, delete it')
    pi.answer(({ options }) => options?.[3])
    await pi.command(sentence)
    expect(storedRules(stage)).toMatchObject([
      {
        condition: 'build.done exists',
        action: 'say so in one line',
        model: 'fake/fake-1',
        fireOnce: true,
        promoteToChat: true,
      },
      { condition: 'build.done exists', action: 'delete it', fireOnce: false, promoteToChat: false },
      { fireOnce: false, promoteToChat: true },
    ])
    expect(made).toContain(`${storedRules(stage)[0]!.id} [enabled, fire_once, promote_to_chat]`)
    expect(await pi.command('/new-trigger when it is daily, then greet')).toEqual([
      expect.stringContaining('/cron add'),
    ])
    expect(stage.model.requests()).toEqual([])
    expect(storedRules(stage)).toHaveLength(3)
  })

  it('hands what no word marks to the agent, whose tool asks', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    const asked: string[] = []
    pi.answer((request) => {
      asked.push(String(request.title))
      return true
    })
    const args = { condition: 'the tests fail', action: 'say which', spec: 'failing tests: tell me which' }
    stage.model.script([{ toolCalls: [{ name: 'new_trigger', args }] }, { text: 'made' }])
    await pi.command('/new-trigger failing tests: tell me which')
    await waitUntil(() => storedRules(stage).length === 1, PATIENCE_MS, 'the rule')
    const [request] = stage.model.requests()
    expect(taskOf(request!)).toMatch(/call new_trigger once[^]*\n\nfailing tests: tell me which$/)
    expect(asked).toEqual(['Control-plane approval required'])
    await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, 0)
    const before = stage.model.requests().length
    await pi.command('/new-trigger when the file, named x, exists, delete it')
    await stage.model.waitForRequest(({ id }) => id > before, PATIENCE_MS)
    expect(storedRules(stage)).toHaveLength(1)
  })
})

describe('/triggers in the real pi', () => {
  it('lists rules by numbers that stand for what was printed, whatever is removed meanwhile', async () => {
    await using stage = await createStage()
    writeRules(
      stage,
      { id: ruleId('a'), condition: 'first' },
      { id: ruleId('b'), condition: 'second' },
      { id: ruleId('c'), condition: 'third' },
      { id: ruleId('f'), condition: 'foreign', cwd: '/elsewhere' },
    )
    const pi = await stage.start()
    const [listed = ''] = await pi.command('/triggers rules')
    expect(listed).toMatch(
      /^Dynamic trigger rules \(3\):\n {2}1\. dyn-a0+ \[enabled, fire_once, audit_only\]\n {6}when: first\n {6}then: say which one\n/,
    )
    expect(listed).toMatch(/\n {2}\+ 1 in other projects: \/triggers rules --all$/)
    expect(await pi.command('/triggers rm 1')).toEqual([`removed ${ruleId('a')} (first)`])
    // The second of the list is still the second.
    expect(await pi.command('/triggers pause 2')).toEqual([`disabled ${ruleId('b')} (second)`])
    expect(await pi.command('/triggers delete 1')).toEqual([expect.stringContaining('is gone')])
    expect(await pi.command('/triggers disable 4')).toEqual(['There is no rule 4: this project has 3.'])
    expect(await pi.command('/triggers disable dyn-f')).toEqual(["no dynamic trigger rule with id 'dyn-f'"])
    expect(await pi.command(`/triggers disable ${ruleId('f')}`)).toEqual([
      `disabled ${ruleId('f')} (foreign)`,
    ])
    const [all = ''] = await pi.command('/triggers rules --all')
    expect(all).toMatch(
      /^Dynamic trigger rules \(3\):[^]* {2}- dyn-f0+ \[disabled, fire_once, audit_only\]\n[^]* {6}in: \/elsewhere$/,
    )
    expect(await pi.command('/triggers resume --all')).toEqual([`enabled ${ruleId('b')} (second)`])
    expect(storedRules(stage).map(({ enabled }) => enabled)).toEqual([true, true, false])
    pi.answer(() => false)
    expect(await pi.command('/triggers remove --all')).toEqual([])
    expect(storedRules(stage)).toHaveLength(3)
    pi.answer(({ title }) => title === 'Remove 2 rules of this project?')
    expect(await pi.command('/triggers remove --all')).toEqual([expect.stringMatching(/^removed 2 rules:\n/)])
    expect(storedRules(stage).map(({ id }) => id)).toEqual([ruleId('f')])
    pi.answer(() => true)
    await pi.command('/triggers remove --all-projects')
    expect(storedRules(stage)).toEqual([])
    expect((await pi.command('/triggers rules'))[0]).toContain('/new-trigger <')
  })

  it('sets a model, a level and a time limit, and takes them away', async () => {
    await using stage = await createStage()
    writeRules(stage, {})
    const pi = await stage.start()
    const [changed = ''] = await pi.command('/triggers set 1 --model fake/fake-1 --thinking=low --timeout 2m')
    expect(changed).toContain('model fake/fake-1 · thinking low · timeout 2m')
    expect(storedRules(stage)[0]).toMatchObject({ model: 'fake/fake-1', thinking: 'low', timeoutMs: 120_000 })
    const refused = async (line: string) => (await pi.command(`/triggers set ${line}`)).join()
    expect(await refused('1 --name x')).toBe('Rules have no name; what they are called is their condition.')
    expect(await refused('1 --model nobody/knows')).toContain('pi does not know the model "nobody/knows"')
    expect(await refused('1 --timeout soon')).toBe('"soon" is no duration: write 90s, 15m or 2h.')
    expect(await refused('1 --timeout 10ms')).toContain('between one second and 24 hours')
    expect(await refused('1 --model')).toBe('--model needs a value, or - to take it away.')
    expect(await refused('1')).toMatch(/^usage: \/triggers set <n\|id>/)
    expect(await refused('1 --colour red')).toMatch(/^unknown option --colour\./)
    expect(await refused('1 loud')).toMatch(/^unknown option loud\./)
    expect(await refused('1 --thinking banana')).toMatch(
      /^"banana" is no thinking level of pi: write one of off, minimal, low,/,
    )
    await pi.command('/triggers set 1 --model - --thinking - --timeout -')
    const [rule] = storedRules(stage)
    expect([rule!.model, rule!.thinking, rule!.timeoutMs]).toEqual([undefined, undefined, undefined])
  })

  it('checks a rule at once, tells what came of it, and shows it in the audit trail', async () => {
    await using stage = await createStage()
    writeRules(stage, { condition: 'note.txt exists' }, { enabled: false }, { cwd: '/elsewhere' })
    stage.model.script(reports([ruleId('1')], 'the note is there'))
    const pi = await stage.start()
    const [started = ''] = await pi.command('/triggers run 1')
    expect(started).toMatch(/^checking dyn-10+ \(note\.txt exists\) \(trace [\da-f]{8}\)$/)
    const find = () => said(pi).find((notice) => notice.startsWith('checked '))
    const done = await waitUntil(find, PATIENCE_MS, () => said(pi).join('\n'))
    expect(done).toMatch(
      /^checked dyn-10+ \(note\.txt exists\): its condition held \(trace [\da-f]{8}, \$0\.00\)\nthe note is there$/,
    )
    expect(checks(stage)).toHaveLength(2)
    await settledChecks(pi)
    const [audit = ''] = await pi.command('/triggers audit 50')
    expect(audit).toMatch(/^Audit trail \(\d+ of \d+ of this project\): .*triggers-audit\.jsonl\n/)
    expect(audit).toMatch(/trigger_result completed [\da-f]{8} \S+ .*the note is there/)
    expect((await pi.command('/triggers audit 1'))[0]!.split('\n')).toHaveLength(2)
    expect(await pi.command('/triggers audit none')).toEqual(['usage: /triggers audit [N=10] [--all]'])
    expect((await pi.command('/triggers run 1'))[0]).toContain('was not checked')
    expect((await pi.command('/triggers run 2'))[0]).toContain('was not checked')
    expect((await pi.command(`/triggers run ${ruleId('3')}`))[0]).toContain('was not checked')
    expect(checks(stage)).toHaveLength(2)
  })

  it('tells where everything stands, with every source in order', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_summary: true } })
    writeRules(stage, {}, { enabled: false, fireOnce: false, promoteToChat: true })
    const pi = await stage.start()
    await source.heard()
    await source.push('one')
    const [status = ''] = await pi.command('/triggers')
    expect(status).toMatch(
      /^Triggers\n {2}rules: 2 \(1 enabled, 1 disabled\) · 1 fire_once, 1 repeat · 1 promote_to_chat\n {2}local checker: this session \(pid \d+\) · every 10m · last check /,
    )
    expect(status).toMatch(/^ {2}mcp servers: 2 configured$/m)
    expect(status).toMatch(/^ {2}sources: 4 total, \d connected, 0 require attention$/m)
    expect(status).toMatch(/^ {2}storage: .*triggers\.json\n {2}audit: .*triggers-audit\.jsonl$/m)
    const [sources = ''] = await pi.command('/triggers hooks')
    const order = [...sources.matchAll(/^ {2}- source #(\d): (\w+)[^\n]*\n {6}subscriptions: ([^(·\n]*)/gm)]
    expect(sources).toMatch(/^Trigger sources \(4\):\n/)
    expect(order.map(([, number, , what]) => [number, what!.trim()])).toEqual([
      ['1', 'mcp:raw'],
      ['2', 'mcp:web [inject_summary]'],
      ['3', 'local crontab: 0 job'],
      ['4', 'dynamic trigger periodic check: 2 rule'],
    ])
    expect(sources).toMatch(/count once: in each window when they are shown, once per project for rules$/)
    expect((await pi.command('/triggers help'))[0]).toMatch(/^Triggers: [^]*\/triggers set <n\|id>/)
    for (const line of ['status', 'sources', 'running', 'help'])
      expect(await pi.command(`/triggers ${line} more`)).toEqual([`usage: /triggers ${line}`])
    expect(await pi.command('/triggers abort --everything')).toEqual([
      'usage: /triggers abort <trace|prefix>|--all',
    ])
    expect(await pi.command('/triggers nonsense')).toEqual([
      expect.stringMatching(/^unknown \/triggers command: nonsense\. usage: \/triggers \[status\|rules\|/),
    ])
  })

  it('goes on without the rules sink, and says what is missing', async () => {
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    stage.scratch.write('agent/tapline.toml', 'disable = ["rules-sink", "cron"]\n')
    const pi = await stage.start()
    const none = 'There are no rules here: the plugin "rules-sink" is disabled in tapline.*.'
    for (const line of ['rules', 'run 1', 'enable --all', 'running', 'abort --all'])
      expect(await pi.command(`/triggers ${line}`)).toEqual([none])
    expect(await pi.command('/new-trigger when a, then b')).toEqual([none])
    expect((await pi.command('/triggers'))[0]).toContain('rules: the plugin "rules-sink" is disabled')
    expect((await pi.command('/triggers sources'))[0]).toMatch(/source #3: disabled/)
    expect(stage.model.requests().filter(isCheck)).toEqual([])
    await pi.prompt('no tools for rules')
    expect(toolNames(stage.model.requests().at(-1)!)).not.toContain('new_trigger')
  })
})

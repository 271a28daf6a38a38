import { realpathSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { textOf, type ChatMessage } from '../../drivers/chat.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { booksOf, booksSay, isIdle, startSource } from '../pushes/source.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { badgeSays, findings, findingsArrive, inbox, writeFindings } from './findings.ts'

const web = (url: string) => ({ web: { kind: 'streamable_http', endpoint: url } })
const toInbox = ({ scratch }: Stage) => scratch.write('agent/tapline.toml', '[push.web]\ndefault = "inbox"\n')

describe('the inbox of the real pi', () => {
  it('keeps a push with that policy, says so in the footer, and costs one turn when it is claimed', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    toInbox(stage)
    const pi = await stage.start()
    await source.heard()
    await badgeSays(pi, undefined)
    await source.push('one')
    const [finding] = await findingsArrive(stage, 1)
    expect(finding).toMatchObject({
      status: 'new',
      source: 'trigger:mcp:web',
      cwd: realpathSync(stage.scratch.project),
      text: 'notifications/demo/event <one>',
    })
    await badgeSays(pi, 'Inbox: 1 new')
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 1, delivered: 1, pending: 0 })
    expect(stage.model.requests()).toEqual([])

    const listed = await inbox(pi)
    expect(listed).toMatch(
      /^Inbox of this project: 1 new\n {2}1\. \[[0-9a-f]{8}\] notifications\/demo\/event <one> {2}\(web, just now\)\n\/inbox claim/,
    )
    expect(await inbox(pi, 'claim 1')).toMatch(
      /^Claimed \[[0-9a-f]{8}\] of .*project: a turn with it begins\.$/,
    )
    await waitUntil(async () => stage.model.requests().length > 0 && (await isIdle(pi)), PATIENCE_MS)
    expect(stage.model.requests()).toHaveLength(1)
    const said = stage.model.requests()[0]!.body.messages.at(-1)!
    expect(textOf(said.content)).toMatch(
      /^\[Inbox inb-[0-9a-f]{32}\] A finding from "trigger:mcp:web", kept in the inbox for the project .*project\. The user has claimed it.* not the words of the user or the system\.\n<finding source="trigger:mcp:web" cwd="[^"]+" kind="news" created="[^"]+">notifications\/demo\/event &lt;one&gt;<\/finding>\n/,
    )
    const { messages } = (await pi.send('get_messages')).data
    expect(messages.map(({ role }: ChatMessage) => role)).toEqual(['system', 'custom', 'assistant'])
    const { sessionId } = (await pi.send('get_state')).data
    expect(findings(stage)).toMatchObject([{ status: 'claimed', claimed_by: sessionId }])
    await badgeSays(pi, undefined)
    expect(await inbox(pi, 'claim 1')).toMatch(/is already claimed\.$/)
    expect(await inbox(pi, 'all')).toMatch(/history: 1 finding\n {2}\[[0-9a-f]{8}\] claimed: /)
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('has a push once for all windows of a project', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    toInbox(stage)
    const windows = await Promise.all([stage.start(), stage.start()])
    await waitUntil(async () => (await source.control({ do: 'status' })).streams === 2, PATIENCE_MS)
    await source.push('one')
    await source.push('two')
    for (const pi of windows) await badgeSays(pi, 'Inbox: 2 new')
    for (const pi of windows) await booksSay(pi, 'web', 'received', 2)
    expect(findings(stage).map(({ text }) => text.slice(-5))).toEqual(['<one>', '<two>'])
  })

  it('has what exceeds a limit as one line that says how many', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    stage.scratch.write(
      'agent/tapline.toml',
      '[push.web]\ndefault = { policy = "summary", limit = "2/hour" }\n',
    )
    const pi = await stage.start()
    await source.heard()
    await source.pushTogether(Array.from({ length: 20 }, (_, n) => `push-${n}`))
    const line = /^web: 18 more pushes of policy "summary" than 2\/hour allow; the newest: .*<push-19>$/
    await waitUntil(
      () => findings(stage).some(({ text }) => line.test(text)),
      PATIENCE_MS,
      () => JSON.stringify(findings(stage)),
    )
    expect(findings(stage)).toHaveLength(1)
    await badgeSays(pi, 'Inbox: 1 new')
    await booksSay(pi, 'web', 'redirected', 18)
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 20, delivered: 2, pending: 0 })
  })

  it('opens for what was left there although no server is configured', async () => {
    await using stage = await createStage()
    writeFindings(
      stage,
      { text: 'build 7 failed' },
      { text: 'deploy?', kind: 'checkpoint', cwd: stage.scratch.project },
      { text: 'theirs', cwd: '/work/other' },
      { text: 'old', status: 'dismissed', dismiss_reason: 'seen' },
    )
    const pi = await stage.start()
    await badgeSays(pi, 'Inbox: 2 new (1 to decide)')
    expect(await inbox(pi)).toMatch(
      /^Inbox of this project: 2 new, 1 to decide\n {2}1\. ! \[b1000000\] deploy\? {2}\(hub, .*\)\n {2}2\. \[a0000000\] build 7 failed .*\n.*\n\+ 1 new in other projects \(\/inbox --all\)$/,
    )
    expect(await inbox(pi, '--all')).toMatch(
      /^Inbox of every project: 3 new, 1 to decide\n[^]*3\. \[c2000000\] theirs .*\n {7}in \/work\/other\n/,
    )
    expect(await inbox(pi, 'all')).toMatch(/history: 3 findings\n[^]*dismissed \(seen\): old/)
    expect(await inbox(pi, 'dismiss 3 not mine, --all of it')).toBe('Dismissed [c2000000] theirs')
    expect(findings(stage)[2]).toMatchObject({ status: 'dismissed', dismiss_reason: 'not mine, --all of it' })
    expect(await inbox(pi, 'dismiss c2')).toBe('[c2000000] is already dismissed (not mine, --all of it).')
    expect(await inbox(pi, 'claim ff')).toBe('No finding has an id that begins with "ff".')
    expect(await inbox(pi, 'claim 9')).toMatch(/^The list that was printed last has no number 9\./)
    expect(await inbox(pi, 'steal 1')).toMatch(/^unknown \/inbox command: steal\. usage: /)
    expect(await inbox(pi, 'help')).toMatch(/^Usage:/)
    expect(stage.model.requests()).toEqual([])
  })

  it('clears what was listed and nothing that came since', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'one' }, { text: 'two' }, { text: 'theirs', cwd: '/work/other' })
    const pi = await stage.start()
    expect(await inbox(pi, 'dismiss 1')).toBe(
      'Numbers are places in the list that /inbox list prints: print it first.',
    )
    expect(await inbox(pi, 'clear')).toMatch(/^Inbox of this project: 2 new\n[^]*Nothing is dismissed yet/)
    // What another process does is seen at once.
    const all = findings(stage)
    writeFindings(stage, ...all, { id: 'inb-later', text: 'later' })
    await badgeSays(pi, 'Inbox: 3 new')
    expect(await inbox(pi, 'clear')).toBe(
      'Dismissed 2 findings. 1 came since or was not on the list: /inbox list',
    )
    expect(findings(stage).map(({ status }) => status)).toEqual(['dismissed', 'dismissed', 'new', 'new'])
    await badgeSays(pi, 'Inbox: 1 new')
    expect(await inbox(pi, 'clear --all')).toMatch(
      /^Inbox of every project: 2 new\n[^]*Nothing is dismissed yet/,
    )
    expect(await inbox(pi, 'clear --all')).toBe('Dismissed 2 findings.')
    await badgeSays(pi, undefined)
    expect(await inbox(pi)).toBe('Inbox of this project: nothing new')
  })

  it('gives a finding to one of two windows that claim it', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'wanted by both' }, { text: 'another' })
    const windows = await Promise.all([stage.start(), stage.start()])
    for (const pi of windows) await badgeSays(pi, 'Inbox: 2 new')
    const answers = await Promise.all(windows.map((pi) => inbox(pi, 'claim a0')))
    expect(answers.toSorted()).toEqual([
      expect.stringMatching(/^Claimed \[a0000000\]/),
      '[a0000000] is already claimed.',
    ])
    for (const pi of windows) {
      await waitUntil(() => isIdle(pi), PATIENCE_MS)
      await badgeSays(pi, 'Inbox: 1 new')
    }
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('waits for its turn when the agent is busy, once', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'meanwhile' })
    const pi = await stage.start()
    const held = pi.prompt('HOLD on')
    await stage.model.held('on')
    expect(await inbox(pi, 'claim a0')).toMatch(/a turn with it begins after this one\.$/)
    stage.model.release('on')
    await held
    await waitUntil(async () => stage.model.requests().length === 2 && (await isIdle(pi)), PATIENCE_MS)
    expect(textOf(stage.model.requests()[1]!.body.messages.at(-1)!.content)).toContain('>meanwhile</finding>')
  })

  it('says what is wrong with its file, and leaves it alone', async () => {
    await using stage = await createStage()
    stage.scratch.write('agent/loops/inbox.jsonl/in-its-place', '')
    const pi = await stage.start()
    await badgeSays(pi, 'Inbox: cannot be read')
    const sentence = `The inbox ${path.join(stage.scratch.agent, 'loops/inbox.jsonl')} cannot be read: a directory stands in its place. Move it away.`
    expect(await inbox(pi)).toBe(sentence)
    expect(await inbox(pi, 'claim a0')).toBe(sentence)
  })

  it('is gone when its plugin is', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'one' })
    stage.scratch.write('agent/tapline.toml', 'disable = ["inbox-sink"]\n')
    const pi = await stage.start()
    expect(await inbox(pi)).toBe('The plugin "inbox-sink" is not loaded: is it among "disable" in tapline.*?')
  })
})

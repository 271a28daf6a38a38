import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { killQuietly, waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  TAPLINE,
} from '../stage.ts'
import { commandsOf, lastUserText, offers, prompt, runs, shelve } from './shelf.ts'

const GONE = 'No longer offered by MCP server "fix"'

describe('commands of prompts in the real pi', () => {
  it.each(['list_changed', 'listChanged'])(
    'come and go with what the server offers, as it says (%s), and one that is gone says so',
    async (spelling) => {
      await using stage = await createStage()
      stage.json({
        fix: shelve(stage, 'fix', { spelling, prompts: [prompt('one'), prompt('two', 'a', 'b?')] }),
      })
      const pi = await stage.start()
      await offers(pi, { 'mcp:fix:one': 'About one.', 'mcp:fix:two': '<a> [b] — About two.' })

      shelve(stage, 'fix', { spelling, prompts: [prompt('two', 'a'), prompt('three')] })
      await offers(pi, {
        'mcp:fix:one': GONE,
        'mcp:fix:two': '<a> — About two.',
        'mcp:fix:three': 'About three.',
      })
      expect(await pi.command('/mcp:fix:one')).toEqual([
        '/mcp:fix:one was not run: MCP server "fix" has no prompt of that name. It has /mcp:fix:three, /mcp:fix:two.',
      ])
      expect(lastUserText(await runs(stage, pi, '/mcp:fix:three'))).toBe('three {}')

      shelve(stage, 'fix', { spelling, prompts: [prompt('one', 'x?')] })
      await offers(pi, { 'mcp:fix:one': '[x] — About one.', 'mcp:fix:two': GONE, 'mcp:fix:three': GONE })
      expect(stage.model.requests()).toHaveLength(1)
      expect(said(pi).filter((notice) => !notice.startsWith('/mcp:'))).toEqual([])
    },
  )

  it('go with their server, and come back with it', async () => {
    await using stage = await createStage()
    const fix = shelve(stage, 'fix', { prompts: [prompt('one')] })
    stage.json({ fix })
    const pi = await stage.start()
    await offers(pi, { 'mcp:fix:one': 'About one.' })
    await pi.command('/mcp disable fix')
    await offers(pi, { 'mcp:fix:one': GONE })
    expect(await pi.command('/mcp:fix:one')).toEqual([
      '/mcp:fix:one was not run: MCP server "fix" is disabled.',
    ])
    await pi.command('/mcp enable fix')
    await offers(pi, { 'mcp:fix:one': 'About one.' })
    stage.json({})
    await pi.command('/mcp reload')
    await offers(pi, { 'mcp:fix:one': GONE })
    expect(await pi.command('/mcp:fix:one')).toEqual([
      '/mcp:fix:one was not run: No MCP server is named "fix".',
    ])
    expect(stage.model.requests()).toEqual([])
  })

  it('stay while their server is away; running one brings it back', async () => {
    await using stage = await createStage()
    const log = stage.log('fix')
    stage.json({ fix: shelve(stage, 'fix', { prompts: [prompt('one')] }) })
    const pi = await stage.start()
    await offers(pi, { 'mcp:fix:one': 'About one.' })
    // What it offers when it is there again is listed again.
    shelve(stage, 'fix', { prompts: [prompt('one'), prompt('more')] })
    killQuietly(log.pids()[0])
    expect(lastUserText(await runs(stage, pi, '/mcp:fix:one'))).toBe('one {}')
    await offers(pi, { 'mcp:fix:one': 'About one.', 'mcp:fix:more': 'About more.' })
    expect(log.pids()).toHaveLength(2)
  })

  it('are named apart, the same in every session, whatever a server calls its prompts', async () => {
    await using stage = await createStage()
    const names = ['a b', 'a/b', 'a_b', 'Überprüfe dies!', '\u001b[31mred\u202e', ' ']
    const prompts = names.map((name) => prompt(name))
    const description = 'Fine\n\u001b]0;title\u0007print\u202eed '.padEnd(400, 'x')
    const other = [{ name: 'a_b', description, arguments: [{ name: 'x\n<y>', required: true }] }]
    stage.json({
      one: shelve(stage, 'one', { prompts }),
      two: shelve(stage, 'two', { prompts: other, pageSize: 1 }),
    })
    const pi = await stage.start()
    const expected = {
      'mcp:one:a_b': 'About a_b.',
      'mcp:one:a_b-2': 'About a b.',
      'mcp:one:a_b-3': 'About a/b.',
      'mcp:one:Überprüfe_dies_': 'About Überprüfe dies!.',
      'mcp:one:_31mred_': 'About red .',
      'mcp:one:_': 'About .',
      'mcp:two:a_b': expect.stringMatching(/^<x <y>> — Fine print ed x{170,}…$/) as string,
    }
    await waitUntil(async () => Object.keys(await commandsOf(pi)).length === 7, PATIENCE_MS, 'the commands')
    expect(await commandsOf(pi)).toEqual(expected)
    expect(lastUserText(await runs(stage, pi, '/mcp:one:a_b-2'))).toBe('a b {}')
    await pi.close()
    shelve(stage, 'one', { prompts: prompts.toReversed(), pageSize: 2 })
    const again = await stage.start()
    await waitUntil(
      async () => Object.keys(await commandsOf(again)).length === 7,
      PATIENCE_MS,
      'the commands',
    )
    expect(await commandsOf(again)).toEqual(expected)
  })

  it('are those of servers that offer any; a list that fails is told of once, and is one server’s affair', async () => {
    await using stage = await createStage()
    const [bare, broken] = [stage.log('bare'), stage.log('broken')]
    stage.json({
      bare: shelve(stage, 'bare', { capabilities: { tools: {} }, prompts: [prompt('one')] }),
      broken: shelve(stage, 'broken', {
        prompts: { error: { code: -32_603, message: 'no\u001b[31m shelf' } },
      }),
      good: shelve(stage, 'good', { prompts: [prompt('one')] }),
    })
    const pi = await stage.start()
    await offers(pi, { 'mcp:good:one': 'About one.' })
    expect(await noticed(pi, /could not be listed/)).toMatch(
      /server "broken": its prompts could not be listed: The server answered with error -32603: no shelf/,
    )
    expect(await pi.command('/mcp:broken:x')).toEqual([
      expect.stringMatching(/^\/mcp:broken:x was not run: The server answered with error -32603: no shelf/),
    ])
    await pi.command('/mcp reconnect')
    await broken.waitFor(({ pid }) => pid !== broken.pids()[0] && broken.count('prompts/list') > 2)
    expect(said(pi).filter((notice) => /could not be listed/.test(notice))).toHaveLength(1)
    expect(bare.count('prompts/list')).toBe(0)
    // One that is mended is found by who asks for it.
    shelve(stage, 'broken', { prompts: [prompt('x')] })
    expect(lastUserText(await runs(stage, pi, '/mcp:broken:x'))).toBe('x {}')
  })

  it('of a server that ends when it is asked for them: its end is told of, and nothing else', async () => {
    await using stage = await createStage()
    stage.json({ dies: shelve(stage, 'dies', { prompts: { exit: 3 } }) })
    const pi = await stage.start()
    await noticed(pi, /server 'dies' failed: server exited with code 3/)
    const log = stage.log('dies')
    await waitUntil(() => log.count('prompts/list') === 3, PATIENCE_MS, 'a third connection')
    expect(said(pi).join('\n')).not.toContain('could not be listed')
  })

  it('are there again in every session of the process', async () => {
    await using stage = await createStage()
    stage.json({ fix: shelve(stage, 'fix', { prompts: [prompt('one')] }) })
    const reload = stage.extension(
      'reload',
      `pi.registerCommand('again', { handler: async (_args, ctx) => ctx.reload() })`,
    )
    const pi = await stage.start({ extensions: [TAPLINE, reload] })
    await offers(pi, { 'mcp:fix:one': 'About one.' })
    for (const begin of [
      () => pi.send('new_session'),
      () => pi.prompt('/again'),
      () => pi.send('new_session'),
    ]) {
      await begin()
      await offers(pi, { 'mcp:fix:one': 'About one.' })
      expect(lastUserText(await runs(stage, pi, '/mcp:fix:one'))).toBe('one {}')
    }
    expect(said(pi)).toEqual([])
  })

  it('are there for servers of every file and revision of the protocol', async () => {
    await using http = await startHttpFixture(servers.modern, ['--http', '--prompts'])
    await using stage = await createStage()
    stage.json({ web: { url: http.url, exposure: 'direct' } })
    stage.toml({ pipe: { command: process.execPath, args: [servers.modern, '--prompts'] } })
    stage.scratch.write('agent/tapline.toml', 'elicitation = { web = false }')
    const pi = await stage.start()
    await connected(pi, 'web', 'pipe')
    const both = { greet: '<who> — Greets.', ask: 'Asks first.' }
    const of = (server: string, more = {}) =>
      Object.fromEntries(
        Object.entries({ ...both, ...more }).map(([name, about]) => [`mcp:${server}:${name}`, about]),
      )
    await offers(pi, { ...of('web'), ...of('pipe') })
    for (const server of ['web', 'pipe'])
      expect(lastUserText(await runs(stage, pi, `/mcp:${server}:greet Ada L.`))).toBe('greet Ada L.')
    expect(await pi.command('/mcp:web:ask')).toEqual([
      '/mcp:web:ask was not run: The prompt asks for more input before it answers, and here nobody is asked.',
    ])
    const answers = ['Answer', 'of thirst', 'Send']
    pi.answer(() => answers.shift())
    expect(lastUserText(await runs(stage, pi, '/mcp:pipe:ask'))).toBe('ask because of thirst')
    await callTool(stage, pi, 'mcp__web__add_prompt', { name: 'later' })
    await callTool(stage, pi, 'add_prompt', { name: 'later' })
    const later = { later: 'Was added later.' }
    await offers(pi, { ...of('web', later), ...of('pipe', later) })
  })

  it('are none where the plugin is disabled, and what looks like one is text', async () => {
    await using stage = await createStage()
    stage.scratch.write('agent/tapline.toml', 'disable = ["prompts"]\n')
    stage.json({ fix: shelve(stage, 'fix', { prompts: [prompt('one')] }), other: misbehaving() })
    const pi = await stage.start()
    await connected(pi, 'other')
    expect(lastUserText(await runs(stage, pi, '/mcp:fix:one'))).toBe('/mcp:fix:one')
    expect(await commandsOf(pi)).toEqual({})
    expect(stage.log('fix').count('prompts/list')).toBe(0)
  })
})

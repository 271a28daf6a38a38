import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ReceivedRequest } from '../../drivers/chat.ts'
import type { Pi, UiRequest } from '../../drivers/pi.ts'
import { jsonLines, runPi } from '../../drivers/pi-run.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, gated, PATIENCE_MS, said, type Stage, TAPLINE } from '../stage.ts'
import { lastUserText, listed, prompt, runs, type Shelf, shelve } from './shelf.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const image = { type: 'image', data: png, mimeType: 'image/png' }
const text = (value: string) => ({ type: 'text', text: value })
const user = (content: unknown) => ({ role: 'user', content })
const review = prompt('review', 'file', 'style?')

/** A pi with one server of prompts, once its commands are there. */
async function start(stage: Stage, shelf: Shelf, entry: object = {}): Promise<Pi> {
  stage.json({ fix: { ...shelve(stage, 'fix', shelf), ...entry } })
  const pi = await stage.start()
  await listed(pi, 'fix')
  return pi
}

/** The parts of the person's last message. */
function lastParts({ body }: ReceivedRequest) {
  return body.messages.findLast(({ role }) => role === 'user')?.content as { type: string; text?: string }[]
}

describe('running a prompt in the real pi', () => {
  it('starts one run with what the server says, for the arguments that were typed', async () => {
    await using stage = await createStage()
    const pi = await start(stage, { prompts: [review, prompt('none'), prompt('free', 'text')] })
    const said = async (line: string) => lastUserText(await runs(stage, pi, line))
    expect(await said('/mcp:fix:review a.ts')).toBe('review {"file":"a.ts"}')
    expect(await said('/mcp:fix:review "a b.ts" very brief')).toBe(
      'review {"file":"a b.ts","style":"very brief"}',
    )
    expect(await said('/mcp:fix:review style=brief a.ts')).toBe('review {"style":"brief","file":"a.ts"}')
    expect(await said('/mcp:fix:none')).toBe('none {}')
    expect(await said(`/mcp:fix:free what's "this"?`)).toBe(`free {"text":"what's \\"this\\"?"}`)
    expect(
      stage.model
        .requests()
        .at(-1)
        ?.body.messages.filter(({ role }) => role === 'user'),
    ).toHaveLength(5)
  })

  it('asks for what is required and missing, one by one; leaving a question runs nothing', async () => {
    await using stage = await createStage()
    const pi = await start(stage, { prompts: [prompt('two', 'a', 'b', 'c?')] })
    const asked: UiRequest[] = []
    const answers = ['1 1', '2']
    pi.answer((request) => {
      asked.push(request)
      return answers[asked.length - 1]
    })
    expect(lastUserText(await runs(stage, pi, '/mcp:fix:two'))).toBe('two {"a":"1 1","b":"2"}')
    expect(asked.map(({ method, title }) => [method, title])).toEqual([
      ['input', 'The MCP server "fix" needs a value:\n  │ "a" for prompt "two"\n  │ What a is.'],
      ['input', 'The MCP server "fix" needs a value:\n  │ "b" for prompt "two"\n  │ What b is.'],
    ])
    pi.answer(() => undefined)
    expect(await pi.command('/mcp:fix:two b=2')).toEqual(['/mcp:fix:two was cancelled.'])
    pi.answer(() => '')
    expect(await pi.command('/mcp:fix:two 1')).toEqual([
      '/mcp:fix:two was not run: It needs "b". Usage: /mcp:fix:two <a> <b> [c]',
    ])
    expect(stage.model.requests()).toHaveLength(1)
    expect(stage.log('fix').count('prompts/get')).toBe(1)
  })

  it('says what is too much', async () => {
    await using stage = await createStage()
    const pi = await start(stage, { prompts: [review, prompt('none')] })
    expect(await pi.command('/mcp:fix:none please')).toEqual([
      '/mcp:fix:none was not run: It takes no arguments, and "please" was typed behind it. Usage: /mcp:fix:none',
    ])
    expect(await pi.command('/mcp:fix:review file=a style=very brief')).toEqual([
      '/mcp:fix:review was not run: No argument is left for "brief"; a value with spaces stands in quotes. Usage: /mcp:fix:review <file> [style]',
    ])
    expect(stage.log('fix').count('prompts/get')).toBe(0)
  })

  it('makes one message of many: a transcript where several speak, images in it, and files of what is binary', async () => {
    await using stage = await createStage()
    const models = { see: { ...SEES, baseUrl: stage.model.url } }
    const resource = (more: object) => ({ type: 'resource', resource: { uri: 'demo:/x.pdf', ...more } })
    const get = {
      talk: {
        messages: [
          user(text('What is \u001b[31mred?\u202e')),
          { role: 'assistant', content: text('A colour.') },
          user([image, text('And this?'), image]),
        ],
      },
      embedded: { messages: [user(text('Read:')), user(resource({ text: 'The\ttext.' })), user(image)] },
      binary: { messages: [user(resource({ mimeType: 'application/pdf', blob: btoa('%PDF') }))] },
      picture: { messages: [user(image)] },
      long: { messages: [user(text('A line. é\n'.repeat(5_000)))] },
      link: { messages: [user({ type: 'resource_link', uri: 'demo:l', name: 'l' })] },
    }
    const prompts = Object.keys(get).map((name) => prompt(name))
    stage.json({ fix: shelve(stage, 'fix', { prompts, get, capabilities: { prompts: {}, resources: {} } }) })
    const pi = await stage.start({ models, settings: { defaultProvider: 'see', defaultModel: 'see-1' } })
    await listed(pi, 'fix')

    const talk = lastParts(await runs(stage, pi, '/mcp:fix:talk'))
    expect(talk.map(({ type }) => type)).toEqual(['text', 'image_url', 'image_url'])
    expect(talk[0]?.text).toBe(
      [
        'Prompt "talk" of MCP server "fix":',
        '[user]\nWhat is red?',
        '[assistant]\nA colour.',
        '[user]',
        '[Image 1]',
        'And this?',
        '[Image 2]',
      ].join('\n\n'),
    )
    const embedded = lastParts(await runs(stage, pi, '/mcp:fix:embedded'))
    expect(embedded.map(({ type }) => type)).toEqual(['text', 'image_url'])
    expect(embedded[0]?.text).toBe('Read:\n\nResource demo:/x.pdf:\nThe\ttext.')
    expect(lastParts(await runs(stage, pi, '/mcp:fix:picture'))[0]?.text).toBe('[Image 1]')
    expect(lastUserText(await runs(stage, pi, '/mcp:fix:link'))).toBe(
      '[Resource demo:l "l". Read it with read_mcp_resource (server "fix")]',
    )

    const binary = lastUserText(await runs(stage, pi, '/mcp:fix:binary'))
    const file = /saved to (\S+\.pdf)\]$/.exec(binary)?.[1] ?? ''
    expect(readFileSync(file, 'utf8')).toBe('%PDF')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const long = lastUserText(await runs(stage, pi, '/mcp:fix:long'))
    expect(Buffer.byteLength(long)).toBeLessThan(21_000)
    const whole = /\[Full output: (\S+) /.exec(long)?.[1] ?? ''
    expect(readFileSync(whole, 'utf8')).toBe('A line. é\n'.repeat(5_000))
  })

  it('is a message and never a command, whatever it looks like', async () => {
    await using stage = await createStage()
    const words = ['/mcp:fix:other', '/mcp', '/skill:x y', '!ls', '/new-trigger when x, then y']
    const get = Object.fromEntries(
      words.map((word, index) => [`p${index}`, { messages: [user(text(word))] }]),
    )
    const prompts = [...Object.keys(get), 'other'].map((name) => prompt(name))
    const gate = path.join(stage.scratch.root, 'gate')
    const entry = shelve(stage, 'fix', { prompts, get })
    stage.json({ fix: entry, late: gated(gate, shelve(stage, 'late', { prompts, get })) })
    const pi = await stage.start()
    await listed(pi, 'fix')
    writeFileSync(gate, '')
    for (const [index, word] of words.entries()) {
      expect(lastUserText(await runs(stage, pi, `/mcp:fix:p${index}`))).toBe(word)
      expect(lastUserText(await runs(stage, pi, `/mcp:late:p${index}`)).trim()).toBe(word)
    }
    expect(stage.log('fix').count('prompts/get')).toBe(words.length)
  })

  it('waits for a run that is under way, as a message of its own, and is aborted with it', async () => {
    await using stage = await createStage()
    const prompts = [prompt('next'), prompt('late')]
    const pi = await start(stage, { prompts, get: { late: { delayMs: 60_000 } } })
    const from = pi.events.length
    await pi.send('prompt', { message: 'HOLD it' })
    await stage.model.held('it')
    expect(await pi.send('prompt', { message: '/mcp:fix:next' })).toMatchObject({ success: true })
    expect(stage.model.requests()).toHaveLength(1)
    stage.model.release('it')
    await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, from)
    expect(stage.model.requests()).toHaveLength(2)
    expect(lastUserText(stage.model.requests()[1]!)).toBe('next {}')
    expect(said(pi)).toEqual([])

    await pi.send('prompt', { message: 'HOLD that' })
    await stage.model.held('that')
    const answer = pi.send('prompt', { message: '/mcp:fix:late' })
    await waitUntil(() => stage.log('fix').count('prompts/get') === 2, PATIENCE_MS, 'the question')
    await pi.send('abort')
    await answer
    expect(said(pi)).toEqual(['/mcp:fix:late was cancelled.'])
    await stage.log('fix').waitFor(({ message }) => message?.method === 'notifications/cancelled')
  })

  it('waits for a compaction, during which pi takes no message', async () => {
    await using stage = await createStage()
    stage.json({ fix: shelve(stage, 'fix', { prompts: [prompt('next')] }) })
    const pi = await stage.start({ settings: { compaction: { enabled: false, keepRecentTokens: 1 } } })
    await listed(pi, 'fix')
    for (const words of ['Something', 'to sum up.']) await pi.prompt(words)
    stage.model.script([{ text: 'All of it.', hold: 'compaction' }])
    const compaction = pi.send('compact')
    await stage.model.held('compaction')
    const from = pi.events.length
    const answer = pi.send('prompt', { message: '/mcp:fix:next' })
    await stage.log('fix').waitFor(({ message }) => message?.method === 'prompts/get')
    stage.model.release('compaction')
    expect(await compaction).toMatchObject({ success: true })
    expect(await answer).toMatchObject({ success: true })
    await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, from)
    expect(lastUserText(stage.model.requests().at(-1)!)).toBe('next {}')
    expect(pi.events.filter(({ type }) => type === 'extension_error')).toEqual([])
  })

  it('says what went wrong, and whose it is', async () => {
    await using stage = await createStage()
    const get = {
      refused: { error: { code: -32_602, message: 'No \u001b[31mfile' } },
      late: { delayMs: 60_000 },
      empty: { messages: [] },
      odd: { messages: 'x' },
    }
    const prompts = Object.keys(get).map((name) => prompt(name))
    const pi = await start(stage, { prompts, get }, { timeout: 1 })
    const wrong = async (name: string) => (await pi.command(`/mcp:fix:${name}`)).join('\n')
    expect(await wrong('refused')).toMatch(
      /^\/mcp:fix:refused was not run: The server answered with error -32602: No file\. /,
    )
    expect(await wrong('late')).toMatch(
      /^\/mcp:fix:late was not run: prompts\/get of server "fix" was not answered within 1 s\./,
    )
    expect(await wrong('empty')).toBe('/mcp:fix:empty was not run: The prompt is empty.')
    expect(await wrong('odd')).toBe('/mcp:fix:odd was not run: The server’s answer holds no messages.')
    // A server that cannot be started any more.
    stage.json({ fix: { command: '/nowhere/to/be/found' } })
    await pi.command('/mcp reload')
    expect(await wrong('refused')).toMatch(/^\/mcp:fix:refused was not run: .*\/nowhere\/to\/be\/found/)
    expect(stage.model.requests()).toEqual([])
    // The server was told that nobody waits any more.
    await stage.log('fix').waitFor(({ message }) => message?.method === 'notifications/cancelled')
  })

  it('may be asked for before its server is there: it is waited for', async () => {
    await using stage = await createStage()
    const gate = path.join(stage.scratch.root, 'gate')
    stage.json({ 'my-fix': gated(gate, shelve(stage, 'fix', { prompts: [review] })) })
    const pi = await stage.start()
    const from = pi.events.length
    const answer = pi.send('prompt', { message: '/mcp:my_fix:review a.ts' })
    setTimeout(() => writeFileSync(gate, ''), 500)
    expect(await answer).toMatchObject({ success: true, data: { disposition: 'started' } })
    await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, from)
    expect(stage.model.requests().map(lastUserText)).toEqual(['review {"file":"a.ts"}'])
    expect(await pi.command('/mcp:nobody:review a.ts')).toEqual([
      '/mcp:nobody:review was not run: No MCP server is named "nobody".',
    ])
    expect(stage.model.requests()).toHaveLength(1)
  })
})

describe('running a prompt without anybody there', () => {
  it('prints the answer, and waits for the server that it names alone', async () => {
    await using stage = await createStage()
    const never = gated(path.join(stage.scratch.root, 'never'), shelve(stage, 'never', {}))
    stage.json({ fix: shelve(stage, 'fix', { prompts: [review] }), never })
    const run = (...args: readonly string[]) => runPi(['-e', TAPLINE, ...args], stage)
    const printed = await run('-p', '/mcp:fix:review "a b.ts" brief')
    expect(printed).toMatchObject({
      code: 0,
      stdout: 'ECHO[user]: review {"file":"a b.ts","style":"brief"}\n',
    })
    const json = await run('--mode', 'json', '/mcp:fix:review a.ts')
    expect(json.code).toBe(0)
    expect(jsonLines(json.stdout).filter(({ type }) => type === 'agent_end')).toHaveLength(1)
    expect(stage.model.requests().map(lastUserText)).toEqual([
      'review {"file":"a b.ts","style":"brief"}',
      'review {"file":"a.ts"}',
    ])
  })

  it('says on stderr why nothing was asked, and fails', async () => {
    await using stage = await createStage()
    stage.json({ fix: shelve(stage, 'fix', { prompts: [prompt('two', 'a', 'b', 'c?')] }) })
    const run = (line: string) => runPi(['-e', TAPLINE, '-p', line], stage)
    expect(await run('/mcp:fix:two c=3')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '/mcp:fix:two was not run: It needs "a", "b". Usage: /mcp:fix:two <a> <b> [c]\n',
    })
    expect(await run('/mcp:fix:three')).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        '/mcp:fix:three was not run: MCP server "fix" has no prompt of that name. It has /mcp:fix:two.\n',
    })
    expect(stage.model.requests()).toEqual([])
  })

  it('fails where Tapline itself cannot start, and says why', async () => {
    await using stage = await createStage()
    stage.json({ fix: shelve(stage, 'fix', { prompts: [review] }) })
    const hooks = stage.scratch.write(
      'broken.mjs',
      `import { registerHooks } from 'node:module'
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.endsWith('/session/session.ts')) throw new Error('a file is missing')
          return next(specifier, context)
        },
      })`,
    )
    const env = { NODE_OPTIONS: `--import=${hooks}` }
    expect(await runPi(['-e', TAPLINE, '-p', '/mcp:fix:review a.ts'], { ...stage, env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Tapline could not start: a file is missing\n/mcp:fix:review was not run: a file is missing\n',
    })
    expect(stage.model.requests()).toEqual([])
  })
})

const SEES = {
  api: 'openai-completions',
  apiKey: 'sk-not-real',
  models: [{ id: 'see-1', name: 'See', contextWindow: 128_000, maxTokens: 4096, input: ['text', 'image'] }],
}

import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../drivers/fixtures.ts'
import type { Pi } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import { startRegistry } from '../drivers/registry.ts'
import type { Registry } from '../drivers/registry.ts'
import { createScratch } from '../drivers/scratch.ts'
import { pack } from '../packed/pack.ts'
import { REPOSITORY } from '../packed/workspaces.ts'
import { createHome } from './installation.ts'
import type { Home } from './installation.ts'
import { runTapline, stdioEntry } from './tapline.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

const example = (name: string): string => path.join(REPOSITORY, 'examples', name)

describe('the examples', () => {
  it('have an mcp.toml that works as it is, in a clone', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', readFileSync(example('mcp.toml'), 'utf8'))
    const list = await runTapline(['list', '--json', '--cwd', REPOSITORY, '--no-approve'], { scratch })
    expect([list.code, list.stderr]).toEqual([0, ''])
    expect(list.json()).toMatchObject({
      servers: [
        { name: 'demo', state: 'connected', tools: [{ serverTool: 'demo_status' }] },
        { name: 'demo-run', state: 'connected', tools: [{ serverTool: 'demo_status' }] },
      ],
      diagnostics: [],
    })
  })

  it('have an mcp.toml whose other servers are understood, once they are no comments', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const text = readFileSync(example('mcp.toml'), 'utf8').replaceAll(/^# (?=\[\[|[a-z_]+ =)/gm, '')
    scratch.write('agent/loops/mcp.toml', text)
    const list = await runTapline(['list', '--json', '--cwd', REPOSITORY, '--no-approve'], { scratch })
    expect(list.json()).toMatchObject({
      servers: [
        { name: 'demo', state: 'connected' },
        { name: 'demo-run', state: 'connected' },
        { name: 'demo-quiet', state: 'connected' },
        { name: 'hub', state: 'disconnected', error: expect.stringContaining('credential was not found') },
      ],
      diagnostics: [],
    })
  })

  it('have a transport that says what is wrong, and a sink that stands beside it, by their paths', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using remote = await startHttpFixture(servers.websocket)
    const clock = remote.url.replace('http:', 'ws:')
    scratch.write('agent/tapline.json', {
      plugins: ['websocket-transport', 'file-sink'].map((name) => example(`${name}/index.ts`)),
      options: { websocket: { clock, nobody: 'ws://127.0.0.1:1/mcp', wrong: 'no address', mine: clock } },
    })
    scratch.write('agent/mcp.json', { mcpServers: { mine: stdioEntry(servers.notify) } })
    const list = await runTapline(['list', '--json'], { scratch })
    expect([list.code, list.stderr]).toEqual([1, ''])
    expect(list.json().servers).toMatchObject([
      // Servers of files come first.
      { name: 'mine', transport: 'stdio', state: 'connected' },
      {
        name: 'clock',
        transport: 'websocket',
        state: 'connected',
        tools: [{ name: 'mcp__clock__hang_up' }, { name: 'mcp__clock__shout' }],
      },
      { name: 'nobody', state: 'disconnected', error: 'cannot connect to 127.0.0.1:1' },
      { name: 'wrong', state: 'disconnected', error: 'its address is no URL' },
    ])
    const doctor = await runTapline(['doctor', '--json'], { scratch })
    expect(doctor.json().plugins).toEqual(expect.arrayContaining(['websocket', 'file-sink']))
  })
})

/** What one who listens to webhooks shares with the sink. */
const SECRET = 'a-shared-secret-of-the-hub'

describe('the sinks for a webhook and for the desktop, packed and installed beside the preset', () => {
  let registry: Registry
  let home: Home
  const loops = (name: string): string => path.join(home.scratch.agent, 'loops', name)
  const inbox = (): { text: string }[] =>
    existsSync(loops('inbox.jsonl'))
      ? readFileSync(loops('inbox.jsonl'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []

  beforeAll(async () => {
    const packed = await pack()
    registry = await startRegistry(packed.map(({ tarball }) => tarball))
    home = await createHome(registry)
    for (const name of ['@tapline/pi', 'tapline-webhook-sink', 'tapline-desktop-sink'])
      await home.install(`npm:${name}`)
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await registry?.close()
  })

  /** A pi whose server `beats` sends so many pushes to the webhook at this address. */
  async function startWithWebhook(
    url: string,
    beats: number,
    more: object = { secret_env: 'HUB_SECRET' },
  ): Promise<Pi> {
    home.scratch.write('agent/tapline.json', {
      options: { 'webhook-sink': { url, ...more } },
      push: { beats: { default: 'webhook' } },
    })
    const entry = stdioEntry(servers.notify, '--every', '100', '--count', String(beats))
    home.scratch.write('agent/mcp.json', { mcpServers: { beats: entry } })
    return home.start({ HUB_SECRET: SECRET })
  }

  /** What the person is told of a plugin. */
  async function complaint(pi: Pi, plugin: string): Promise<string> {
    const find = (): string | undefined => pi.notices().find((text) => text.includes(plugin))
    return waitUntil(find, 20_000, () => `a word on ${plugin} among ${JSON.stringify(pi.notices())}`)
  }

  /** Everything that was said or written down, but for the file that a secret may be in. */
  function saidAnywhere(pi: Pi): string {
    const files = readdirSync(path.dirname(loops('x')), { recursive: true, encoding: 'utf8' })
      .map((name) => loops(name))
      .filter((file) => /\.jsonl?$/.test(file))
    return [JSON.stringify(pi.events), pi.stderr, ...files.map((file) => readFileSync(file, 'utf8'))].join(
      '\n',
    )
  }

  it('post each push, signed, and again until it is taken', async () => {
    await using receiver = await startWebhookReceiver(SECRET)
    receiver.answer(500, 503, 429)
    const pi = await startWithWebhook(receiver.url, 2)
    const deliveries = await receiver.holds(5)
    const [first, ...rest] = deliveries
    expect(deliveries.map(({ verified, status }) => [verified, status])).toEqual(
      [500, 503, 429, 204, 204].map((status) => [true, status]),
    )
    expect(first?.body).toEqual({
      id: first?.id,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      source: 'mcp',
      server: 'beats',
      method: 'notifications/pi/demo/heartbeat',
      key: expect.stringContaining('beat-'),
      summary: 'notifications/pi/demo/heartbeat demo beat 1',
    })
    // The same event each time, then the next one: order is kept.
    expect(rest.slice(0, 3).map(({ id }) => id)).toEqual([first?.id, first?.id, first?.id])
    expect(rest[3]?.body).toMatchObject({ summary: expect.stringContaining('demo beat 2') })
    await waitUntil(
      async () => (await pi.command('/triggers sources')).join().includes('delivered=2'),
      20_000,
    )
    expect(saidAnywhere(pi)).not.toMatch(/a-shared-secret|in-the-address/)
    await pi.close()
  })

  it('leave to the inbox what a webhook refuses, and say why', async () => {
    await using receiver = await startWebhookReceiver(SECRET)
    receiver.answer(401)
    const before = inbox().length
    const pi = await startWithWebhook(receiver.url, 2)
    await receiver.holds(2)
    await waitUntil(() => inbox().length > before, 20_000, 'the inbox to have it')
    expect(inbox().slice(before)).toEqual([
      expect.objectContaining({ text: expect.stringMatching(/demo beat 1 .*not taken by webhook/) }),
    ])
    expect(receiver.deliveries.map(({ status }) => status)).toEqual([401, 204])
    expect(await complaint(pi, 'webhook-sink')).toMatch(/127\.0\.0\.1:\d+ refused it with status 401/)
    expect(saidAnywhere(pi)).not.toMatch(/a-shared-secret|in-the-address/)
    await pi.close()
  })

  it('give a webhook up before Tapline does, when nobody is there', async () => {
    const receiver = await startWebhookReceiver(SECRET)
    await receiver[Symbol.asyncDispose]()
    const before = inbox().length
    const file = home.scratch.write('secret', `${SECRET}\n`)
    const pi = await startWithWebhook(receiver.url, 1, { secret_file: file })
    await waitUntil(() => inbox().length > before, 20_000, 'the inbox to have it')
    expect(await complaint(pi, 'webhook-sink')).toMatch(
      /did not take it in [4-9] attempts; the last time it could not be reached/,
    )
    expect(saidAnywhere(pi)).not.toMatch(/a-shared-secret|in-the-address/)
    await pi.close()
  })

  it.each([
    [{ secret: SECRET }, /"secret" is not read: name a variable with "secret_env"/],
    [{ secret_env: 'NOBODY_SET_THIS' }, /there is no secret/],
    [{ url: 'http://example.com/', secret_env: 'HUB_SECRET' }, /"url" must be an https address/],
  ])('do not post with %j', async (options, message) => {
    const before = inbox().length
    const pi = await startWithWebhook('https://127.0.0.1:1/', 1, options)
    await waitUntil(() => inbox().length > before, 20_000, 'the inbox to have it')
    expect(await complaint(pi, 'webhook-sink')).toMatch(message)
    expect(saidAnywhere(pi)).not.toContain('a-shared-secret')
    await pi.close()
  })

  it('show a notification of the desktop, whose texts are data', async () => {
    const shown = path.join(home.scratch.root, 'shown.json')
    const program = home.scratch.write(
      'bin/notify-send',
      `#!/usr/bin/env node
require('node:fs').appendFileSync(${JSON.stringify(shown)}, JSON.stringify(process.argv.slice(2)) + '\\n')
process.exit(process.argv.at(-1).includes('no desktop') ? 1 : 0)
`,
    )
    chmodSync(program, 0o755)
    home.scratch.write('agent/tapline.json', {})
    home.scratch.write('agent/mcp.json', { mcpServers: {} })
    const before = inbox().length
    const pi = await home.start({
      PATH: [path.dirname(program), path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
    })
    // notify-send makes characters of \074 and the like.
    const evil = `$(touch ${home.scratch.root}/pwned); <b>"bold"</b> & \\074i\\076 --urgency=critical`
    expect((await pi.command(`/cron add in 1s --to desktop ${evil}`)).join()).toContain('the sink "desktop"')
    const lines = (): string[][] =>
      existsSync(shown)
        ? readFileSync(shown, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : []
    await waitUntil(() => lines().length === 1, 20_000, 'a notification')
    expect(lines()[0]).toEqual([
      '--app-name=Tapline',
      '--',
      'Tapline: cron',
      `$(touch ${home.scratch.root}/pwned); &lt;b&gt;"bold"&lt;/b&gt; &amp; \\\\074i\\\\076 --urgency=critical`,
    ])
    expect(existsSync(path.join(home.scratch.root, 'pwned'))).toBe(false)

    await pi.command('/cron add in 1s --to desktop there is no desktop')
    await waitUntil(() => inbox().length > before, 20_000, 'the inbox to have it')
    expect(inbox().at(-1)?.text).toMatch(/there is no desktop .*not taken by desktop/)
    expect(await complaint(pi, 'desktop-sink')).toMatch(/notify-send ended with code 1/)
    expect(home.model.requests()).toEqual([])
    await pi.close()
  })
})

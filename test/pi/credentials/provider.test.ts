import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import type { Pi } from '../../drivers/pi.ts'
import { runTapline } from '../../install/tapline.ts'
import {
  callTool,
  connected,
  createStage,
  noticed,
  said,
  serversShow,
  type Stage,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'

const REQUIRED = 'MCP server "web" requires sign-in. Run /login acme to sign in.'
const later = () => Date.now() + 3_600_000

/** Everything that pi has written and the model was told. */
function transcript(stage: Stage, pi: Pi): string {
  return JSON.stringify([pi.events, stage.model.requests().map(({ raw }) => raw), pi.stderr])
}

/** A provider of models that signs people in, whose tokens are always about to expire. */
const ACME = `
  let count = 0
  pi.registerProvider('acme', {
    name: 'Acme', baseUrl: 'http://127.0.0.1:1/v1', api: 'openai-completions',
    models: [{ type: 'chat', id: 'm', name: 'M', reasoning: false, input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1000, maxTokens: 100 }],
    oauth: {
      name: 'Acme',
      login: () => { throw new Error('not here') },
      refreshToken: async (credentials) =>
        ({ ...credentials, access: 'zq-renewed-' + ++count, expires: Date.now() + 60_000 }),
      getApiKey: ({ access }) => access,
    },
  })`

describe('a server that is sent the token of a provider, in the real pi', () => {
  it('gets the one that pi has at each request, renewed, and shows it to nobody', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    const acme = stage.extension('acme', ACME)
    const web = { url: http.url, auth: { provider: 'acme' }, exposure: 'direct' }
    stage.json({ web })
    const stored = { type: 'oauth', access: 'zq-stored', refresh: 'zq-refresh', expires: 1 }
    stage.scratch.write('agent/auth.json', { acme: stored })
    const pi = await stage.start({ extensions: [TAPLINE, acme] })
    await connected(pi, 'web')
    expect(toolAnswer(await callTool(stage, pi, 'mcp__web__echo', { text: 'let in' }))).toBe('let in')
    await http.control({ do: 'error', for: 'tools/call', status: 403 })
    const refused = toolAnswer(await callTool(stage, pi, 'mcp__web__echo', { text: 'again' }))
    expect(refused).toContain('HTTP 403')
    const sent = (await http.log()).map(({ headers }) => headers['authorization'] ?? '')
    expect(sent.length).toBeGreaterThan(3)
    const numbers = sent.map((header) => Number(/^Bearer zq-renewed-(\d+)$/.exec(header)?.[1]))
    expect(numbers.every((number) => number > 0)).toBe(true)
    // A renewal that is due is made for each request anew; requests side by side may share one.
    expect(new Set(numbers).size).toBeGreaterThan(2)
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers)
    expect(transcript(stage, pi)).not.toContain('zq-')
  })

  it('wants a sign-in until there is one, in whichever process, and is connected then', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving, ['--token', 'zq-key'])
    await using stage = await createStage()
    stage.json({ web: { url: http.url, auth: { provider: 'acme' } } })
    stage.scratch.write('agent/auth.json', { acme: { type: 'api_key', key: 'zq-wrong' } })
    const models = [{ id: 'm', contextWindow: 1000, maxTokens: 100 }]
    const acme = { api: 'openai-completions', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'unused', models }
    const pi = await stage.start({ models: { acme } })
    expect(await noticed(pi, /requires sign-in/)).toBe(
      `mcp server 'web' failed: ${REQUIRED} In a shell: pi auth login acme`,
    )
    await serversShow(pi, /web: needs sign-in: MCP server "web" requires sign-in\./)
    expect((await pi.command('/mcp reconnect web')).join()).toContain(REQUIRED)
    expect(await pi.command('/mcp login web')).toEqual([
      'MCP server "web" uses the sign-in of provider "acme". Run /login acme, or /logout.',
    ])
    const before = said(pi).length
    stage.scratch.write('agent/auth.json', { acme: { type: 'api_key', key: 'zq-key' } })
    await connected(pi, 'web')
    expect(said(pi).slice(before)).toEqual([])
    expect(transcript(stage, pi)).not.toContain('zq-')
  })

  it('is one of the user’s file alone: a project cannot name a provider', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    stage.scratch.write('agent/auth.json', { anthropic: { type: 'api_key', key: 'zq-model-key' } })
    stage.scratch.write('project/.pi/mcp.json', {
      mcpServers: { web: { url: http.url, auth: { provider: 'anthropic' } } },
    })
    const pi = await stage.start({ args: ['--approve'] })
    expect(await noticed(pi, /auth is only allowed/)).toMatch(
      /mcp server 'web' failed: auth is only allowed in the global mcp\.json/,
    )
    await pi.prompt('hello')
    expect(await http.log()).toEqual([])
  })
})

describe('a server that is sent the token of a provider, in a shell', () => {
  it('gets the stored one, until it has expired; login and logout say whose it is', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving, ['--token', 'zq-access'])
    await using stage = await createStage()
    const { scratch } = stage
    stage.json({ web: { url: http.url, auth: { provider: 'acme' } } })
    const store = (expires: number): void =>
      void scratch.write('agent/auth.json', {
        acme: { type: 'oauth', access: 'zq-access', refresh: 'zq-refresh', expires },
      })
    store(later())
    const list = await runTapline(['list', '--json'], { scratch })
    expect(list.json().servers).toMatchObject([{ name: 'web', state: 'connected' }])
    store(1)
    const after = await runTapline(['list'], { scratch })
    expect(after).toMatchObject({ code: 1, stderr: '' })
    expect(after.stdout).toContain(`  ${REQUIRED}\n  In a shell: pi auth login acme\n`)
    const doctor = await runTapline(['doctor'], { scratch })
    expect(doctor.stdout).toContain('What to do: In a shell: pi auth login acme')
    for (const command of ['login', 'logout']) {
      const ran = await runTapline([command, 'web'], { scratch })
      expect(ran).toMatchObject({
        code: 2,
        stderr: `Server "web" uses the sign-in of provider "acme": pi auth ${command} acme\n`,
      })
    }
    for (const { stdout, stderr } of [list, after, doctor]) expect(stdout + stderr).not.toContain('zq-')
  })
})

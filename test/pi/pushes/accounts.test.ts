import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  serversShow,
  TAPLINE,
} from '../stage.ts'
import {
  booksOf,
  booksSay,
  chatHolds,
  isIdle,
  keysInChat,
  keysTold,
  sourceOf,
  startSource,
} from './source.ts'

const web = (url: string, more: object = { inject_summary: true }) => ({
  web: { kind: 'streamable_http', endpoint: url, ...more },
})

describe('the books of pushes in the real pi', () => {
  it('count what was delivered, double, keyless and handled, and add up', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    await source.push('same')
    await source.push('same')
    await source.push('other')
    for (const [method, params] of [
      ['notifications/message', { level: 'error', data: 'a log line' }],
      ['notifications/progress', { progressToken: 'unknown', progress: 1 }],
      ['notifications/cancelled', { requestId: 4711 }],
    ] as const)
      await source.notify(method, params)
    await source.notify('notifications/demo/keyless', { secret: 'not shown' })
    await booksSay(pi, 'web', 'received', 4)

    const counts = {
      received: 4,
      delivered: 2,
      deduped: 1,
      dropped: 1,
      pending: 0,
      redirected: 0,
      collapsed: 0,
    }
    expect(await booksOf(pi, 'web')).toEqual({ ...counts, handled: 3 })
    const shown = await sourceOf(pi, 'web')
    expect(shown).toMatch(
      /last error: dropped custom notification "notifications\/demo\/keyless": missing `_meta.pi_dedup_key`/,
    )
    expect(shown).not.toContain('not shown')
    expect(keysInChat(pi)).toEqual(['same', 'other'])

    // A push that arrives clears the error.
    await source.push('third')
    await booksSay(pi, 'web', 'received', 5)
    expect(await sourceOf(pi, 'web')).not.toContain('last error')
  })

  it('take both spellings of list changes for one, and the latest of them wins', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    stage.scratch.write('agent/tapline.toml', '[options.dedup-window]\nwindow_ms = 3000\n')
    const pi = await stage.start()
    await source.heard()
    await source.notify('notifications/resources/list_changed')
    await source.notify('notifications/resources/listChanged')
    await source.notify('notifications/resources/list_changed')
    await source.notify('notifications/resources/updated', { uri: 'fixture://a?v=1' })
    await source.notify('notifications/resources/updated', { uri: 'fixture://b' })
    await booksSay(pi, 'web', 'received', 5)
    await booksSay(pi, 'web', 'pending', 0)
    // The first one at once, the newest when the window ends, the one between them in it.
    expect(await booksOf(pi, 'web')).toMatchObject({ delivered: 4, collapsed: 1, dropped: 0, deduped: 0 })
    const { messages } = (await pi.send('get_messages')).data
    const texts = messages.map(({ content }: { content: string }) => content.replace(/^.*: /, ''))
    expect(texts).toEqual([
      'notifications/resources/list_changed',
      'notifications/resources/updated uri=fixture://a?v=1',
      'notifications/resources/updated uri=fixture://b',
      'notifications/resources/list_changed',
    ])
  })

  it('follow a policy for each method, over what the server entry says', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    stage.scratch.write(
      'agent/tapline.toml',
      [
        '[push.web]',
        '"notifications/demo/ignored" = "ignore"',
        '"notifications/demo/logged" = "log"',
        '"notifications/*/event" = "run"',
        '"notifications/demo/lost*" = "pager"',
      ].join('\n'),
    )
    const pi = await stage.start()
    await source.heard()
    const keyed = (key: string) => ({ _meta: { pi_dedup_key: key } })
    for (const method of ['ignored', 'logged', 'lost-1', 'lost-2', 'shown'])
      await source.notify(`notifications/demo/${method}`, keyed(method))
    await source.push('run')
    await stage.model.waitForRequest((request) => keysTold(request).includes('run'), PATIENCE_MS)
    await waitUntil(() => isIdle(pi), PATIENCE_MS)
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 6, delivered: 3, dropped: 3, pending: 0 })
    const { messages } = (await pi.send('get_messages')).data
    const pushes = messages.filter(({ customType }: { customType?: string }) => customType === 'tapline:push')
    expect(pushes.map(({ details }: { details: { method: string } }) => details.method)).toEqual([
      'notifications/demo/shown',
      'notifications/demo/event',
    ])
    expect(await noticed(pi, /"pager"/)).toBe(
      '"push" of tapline.*, "web": "notifications/demo/lost*" has the policy "pager", which is not built in and no plugin provides.',
    )
    expect(said(pi)).toHaveLength(1)
  })

  it('list the servers in order, with what each said last on stderr, which is no error', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ first: misbehaving('--stderr', 'warming \u001b[31mup\u001b[0m slowly') })
    stage.toml({ ...web(source.url), ['quiet-one']: { ...misbehaving(), enabled: false } })
    const pi = await stage.start()
    await connected(pi, 'first', 'web')
    const [shown = ''] = await pi.command('/triggers sources')
    expect(shown).toMatch(
      /^Trigger sources \(5\):\n {2}- source #1: connected queued=0 dropped=0 deduped=0 last_event=never\n/,
    )
    const order = [...shown.matchAll(/source #(\d): (\w+)[^]*?subscriptions: mcp:(\S+)/g)]
    expect(order.map(([, ...facts]) => facts)).toEqual([
      ['1', 'connected', 'first'],
      ['2', 'connected', 'web'],
      ['3', 'disabled', 'quiet-one'],
    ])
    const first = await sourceOf(pi, 'first')
    expect(first).toContain('stderr: warming up slowly')
    expect(first).not.toContain('last error')
    expect(await sourceOf(pi, 'web')).toMatch(
      /mcp:web \[inject_summary\] \(streamable-http, user\) · tools: ask, bad, big/,
    )
  })

  it('have no page in print and JSON mode, where pushes are ignored', async () => {
    await using stage = await createStage()
    stage.toml({ raw: { ...misbehaving(), inject_summary: true } })
    const meta = { pi_dedup_key: 'k{n}', pi_summary: 'pushed {n}' }
    const call = `CALL burst ${JSON.stringify({ method: 'notifications/demo/event', count: 3, meta })}`
    const { model, scratch } = stage
    const print = await runPi(['-p', '-e', TAPLINE, call], { model, scratch })
    expect(print).toMatchObject({ code: 0, stdout: 'ECHO[tool]: sent 3\n', stderr: '' })
    const json = await runPi(['--mode', 'json', '-e', TAPLINE, call], { model, scratch })
    expect(json).toMatchObject({ code: 0, stdout: expect.stringContaining('sent 3'), stderr: '' })
    expect(model.requests()).toHaveLength(4)
    expect(json.stdout + JSON.stringify(model.requests())).not.toMatch(/pushed 1|tapline:push/)
  })

  it('are kept by each window: a push that is shown reaches every one of them, once', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const windows = await Promise.all([stage.start(), stage.start()])
    const listening = async () => (await source.control({ do: 'status' })).streams === 2
    await waitUntil(listening, PATIENCE_MS, 'both to listen')
    await source.push('both')
    await source.push('both')
    for (const pi of windows) {
      await booksSay(pi, 'web', 'received', 2)
      expect(await booksOf(pi, 'web')).toMatchObject({ delivered: 1, deduped: 1 })
      expect(keysInChat(pi)).toEqual(['both'])
    }
  })

  it('go on after an outage and after the server has forgotten the session', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    await source.push('before')
    await source.control({ do: 'outage', ms: 500 })
    await source.listened(2, PATIENCE_MS)
    await source.heard()
    await source.push('after-outage')
    await source.control({ do: 'forget' })
    await source.control({ do: 'drop', method: 'GET' })
    await source.waitForLog(({ body }, index) => index > 3 && body?.method === 'initialize', PATIENCE_MS)
    await source.heard()
    await source.push('after-loss')
    expect(await chatHolds(pi, 3)).toEqual(['before', 'after-outage', 'after-loss'])
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 3, delivered: 3, dropped: 0, pending: 0 })

    // Refused with fresh credentials too: that is said, and no longer shown once it is over.
    await source.control({ do: 'get', mode: '401' })
    await source.control({ do: 'drop', method: 'GET' })
    await noticed(pi, /'web': its pushes do not arrive: .* Sign in with \/mcp login web/)
    await serversShow(pi, /web: connected[^]*! its pushes do not arrive: [^]*what to do: Sign in/)
    await source.control({ do: 'get', mode: 'open' })
    await source.heard()
    await source.push('after-refusals')
    expect(await chatHolds(pi, 4)).toContain('after-refusals')
    expect(await serversShow(pi, /web: connected/)).not.toContain('what to do')
  })

  it('see the pushes of a modern server and of one on the old SDK alike', async () => {
    await using stage = await createStage()
    const entry = (script: string) => ({ command: process.execPath, args: [script], naming: 'mcp' })
    stage.toml({ modern: entry(servers.modern), legacy: entry(servers.v1) })
    stage.scratch.write('agent/tapline.toml', '[push."*"]\n"notifications/tools/*" = "summary"\n')
    const pi = await stage.start()
    expect(await connected(pi, 'modern', 'legacy')).toMatch(/2025-11-25 \(legacy\)[^]*2026-07-28 \(modern\)/)
    for (const name of ['modern', 'legacy']) {
      await callTool(stage, pi, `mcp__${name}__change`)
      await booksSay(pi, name, 'delivered', 1)
    }
    const { messages } = (await pi.send('get_messages')).data
    const pushes = messages.filter(({ customType }: { customType?: string }) => customType === 'tapline:push')
    expect(pushes.map(({ details }: { details: { server: string } }) => details.server)).toEqual([
      'modern',
      'legacy',
    ])
  })
})

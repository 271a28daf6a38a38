import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { callTool, connected, createStage, misbehaving, noticed, PATIENCE_MS, toolAnswer } from '../stage.ts'
import { booksOf, booksSay, isPush } from './source.ts'

describe('subscriptions in the real pi', () => {
  it('are made by address and pattern, bring updates into the chat, and are made again after a crash', async () => {
    await using stage = await createStage()
    const log = stage.log('frames')
    stage.toml({
      raw: {
        ...misbehaving('--log', log.path),
        subscribe: ['fixture://*', 'other://named'],
        inject_summary: true,
        reconnect: { initial_ms: 10 },
      },
    })
    const pi = await stage.start()
    await connected(pi, 'raw')
    const asked = () =>
      log
        .entries()
        .filter(({ message }) => message?.method === 'resources/subscribe')
        .map(
          ({ pid, message }) =>
            [pid, String((message?.params as { uri?: string } | undefined)?.uri)] as const,
        )
    await waitUntil(
      () => asked().length === 2,
      PATIENCE_MS,
      () => `two subscriptions: ${asked().join(' ')}`,
    )
    expect(
      asked()
        .map(([, uri]) => uri)
        .toSorted(),
    ).toEqual(['fixture://one', 'other://named'])
    const request = await callTool(stage, pi, 'touch', { uri: 'fixture://one' })
    expect(toolAnswer(request)).toContain('subscribed:')
    await waitUntil(
      () =>
        pi.events.some(
          (event) => isPush(event) && String(event.message.content).includes('uri=fixture://one'),
        ),
      PATIENCE_MS,
      'the update in the chat',
    )

    const [[first] = [0]] = asked()
    process.kill(first, 'SIGKILL')
    await waitUntil(() => asked().length === 4, PATIENCE_MS, 'the subscriptions of the next process')
    expect(new Set(asked().map(([pid]) => pid)).size).toBe(2)
    expect((await booksOf(pi, 'raw')).delivered).toBe(1)
  })

  it('ride on the listen stream of a modern server', async () => {
    await using http = await startHttpFixture(servers.modern, ['--http'])
    await using stage = await createStage()
    stage.toml({
      new: {
        kind: 'streamable_http',
        endpoint: http.url,
        subscribe: ['thing://1'],
        push: { default: 'log', 'notifications/resources/updated': 'summary' },
      },
    })
    const pi = await stage.start()
    await connected(pi, 'new')
    await waitUntil(
      async () => (await pi.command('/triggers sources')).join('\n').includes('thing://1'),
      PATIENCE_MS,
      'the subscription',
    )
    await callTool(stage, pi, 'touch', { uri: 'thing://1' })
    await booksSay(pi, 'new', 'delivered', 1)
    expect(
      pi.events
        .filter(isPush)
        .map(({ message }) => String(message.content))
        .join(),
    ).toContain('uri=thing://1')
  })

  it('that a server refuses are told of, and the rest goes on', async () => {
    await using stage = await createStage()
    stage.toml({
      plain: {
        command: process.execPath,
        args: [servers.storm, '--most', '1'],
        subscribe: ['file:///a'],
        inject_summary: true,
      },
    })
    const pi = await stage.start()
    expect(await noticed(pi, /file:\/\/\/a/)).toMatch(
      /mcp server 'plain': the subscription to file:\/\/\/a failed: the server does not offer subscriptions to its resources\./,
    )
    expect((await pi.command('/triggers sources')).join('\n')).toMatch(
      /file:\/\/\/a: the server does not offer/,
    )
    await waitUntil(() => pi.events.some(isPush), PATIENCE_MS, 'its push')
  })
})

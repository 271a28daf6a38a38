import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHANNEL, EVENT, openPlace, server, VERDICT } from './place.ts'

const KB = 1024

describe('the mapping of channel events', () => {
  it('makes an event a trigger with content and attributes', async () => {
    await using place = await openPlace()
    const meta = { chat_id: '42', message_id: '7', user: 'alice', ts: '2026-11-30T12:00:00Z' }
    expect(place.event('chat', { content: 'Is it\ndone?', meta })).toEqual({
      kind: 'trigger',
      traceId: expect.stringMatching(/^[\da-f-]{36}$/),
      source: 'mcp',
      server: 'chat',
      method: EVENT,
      key: 'channel:chat:id:42:7',
      replacement: 'drop',
      summary: `${EVENT} from alice: Is it done?`,
      content: 'Is it\ndone?',
      attributes: meta,
      policy: 'channel',
      receivedAt: expect.any(Number),
    })
  })

  it.each([
    ['nothing', undefined, 'missing'],
    ['no content', {}, 'missing'],
    ['null', { content: null }, 'null'],
    ['a number', { content: 7 }, 'of type number'],
    ['an object', { content: { text: 'x' } }, 'of type object'],
    ['a list', { content: ['x'] }, 'a list'],
  ])('drops %s, with words for the author of the server', async (_name, params, kind) => {
    await using place = await openPlace()
    expect(place.notify('chat', EVENT, params)).toEqual({
      kind: 'drop',
      reason: 'malformed channel event',
      error: `dropped ${EVENT}: "content" must be a text, and is ${kind}`,
    })
  })

  it.each([
    ['a list', ['x'], 'a list'],
    ['a text', 'x', 'of type string'],
  ])('drops meta that is %s', async (_name, meta, kind) => {
    await using place = await openPlace()
    const error = `dropped ${EVENT}: "meta" must be an object, and is ${kind}`
    expect(place.notify('chat', EVENT, { content: 'x', meta })).toMatchObject({ kind: 'drop', error })
  })

  it('takes no meta, and what is no text in it is left out or written as one', async () => {
    await using place = await openPlace()
    expect(place.event('chat', { content: 'x' }).attributes).toEqual({})
    expect(place.event('chat', { content: 'x', meta: null }).attributes).toEqual({})
    const meta = { a: 7, b: true, c: null, d: { e: 1 }, f: ['x'], 'g-h': 'x', source: 'boss', Source: 'boss' }
    expect(place.event('chat', { content: 'x', meta }).attributes).toEqual({ a: '7', b: 'true' })
  })

  it('bounds the number, names and values of attributes', async () => {
    await using place = await openPlace()
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a${n}`, 'x'.repeat(5_000)]))
    const { attributes = {} } = place.event('chat', {
      content: 'x',
      meta: { ['n'.repeat(65)]: 'x', ...many },
    })
    expect(Object.keys(attributes)).toEqual(Array.from({ length: 32 }, (_, n) => `a${n}`))
    expect(new Set(Object.values(attributes))).toEqual(new Set([`${'x'.repeat(1_023)}…`]))
  })

  it('takes out what is not seen, and keeps lines', async () => {
    await using place = await openPlace()
    const content = 'one\r\ntwo\u001B[31m red\u202E\u200B\u0007\tthree\uD800'
    const { content: shown, attributes } = place.event('chat', {
      content,
      meta: { user: 'a\u001B[2J\nb\u202Ec' },
    })
    expect(shown).toBe('one\ntwo red\tthree\uFFFD')
    expect(attributes).toEqual({ user: 'a bc' })
  })

  it('cuts content at 32 KB, at a character, and says so', async () => {
    await using place = await openPlace()
    const exact = 'x'.repeat(32 * KB)
    expect(place.event('chat', { content: exact }).content).toBe(exact)
    fc.assert(
      fc.property(
        fc.constantFrom('x', 'é', '€', '😀', 'a😀'),
        fc.integer({ min: 0, max: 8 }),
        (unit, shift) => {
          const content = `${'y'.repeat(shift)}${unit.repeat(40 * KB)}`
          const shown = place.event('chat', { content }).content ?? ''
          const [body = '', mark] = shown.split('\n')
          expect(mark).toBe(
            `[cut by Tapline: the message has ${Math.ceil(Buffer.byteLength(content) / KB)} KB, of which 32 KB are shown]`,
          )
          expect(content.startsWith(body)).toBe(true)
          expect(body.isWellFormed()).toBe(true)
          const bytes = Buffer.byteLength(body)
          expect(bytes).toBeLessThanOrEqual(32 * KB)
          expect(bytes).toBeGreaterThan(32 * KB - 8)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('says who and how it begins in the summary, without secrets, in one short line', async () => {
    await using place = await openPlace()
    const long = place.event('chat', {
      content: `the key is s3cr3t\n${'word '.repeat(100)}`,
      meta: { chat_id: '9' },
    })
    expect(long.summary).toMatch(new RegExp(`^${EVENT} from 9: the key is \\[REDACTED\\] word word .*…$`))
    expect(long.summary.length).toBeLessThanOrEqual(EVENT.length + 200)
    expect(long.content).toContain('s3cr3t')
    expect(place.event('chat', { content: '   ' }).summary).toBe(EVENT)
  })

  it('shows no half of a secret, wherever a long content is cut for it', async () => {
    await using place = await openPlace()
    for (let before = 4_080; before < 4_100; before++) {
      const { summary } = place.event('chat', { content: `${' '.repeat(before)}s3cr3t and more` })
      expect(summary).not.toMatch(/\bs(?:3|3c|3cr|3cr3)?\b/)
    }
  })

  it('says nothing of the content where nobody can redact it', async () => {
    await using place = await openPlace({ redact: false })
    expect(place.event('chat', { content: 'x', meta: { user: 'alice' } }).summary).toBe(EVENT)
  })
})

describe('the key of a channel event', () => {
  const keyOf = async (meta: Readonly<Record<string, unknown>> | undefined, content = 'x', name = 'chat') => {
    await using place = await openPlace({ servers: [server(name)] })
    return place.event(name, { content, meta }).key
  }

  it('is its message_id, in its chat where it names one', async () => {
    expect(await keyOf({ message_id: '7' })).toBe('channel:chat:id:7')
    expect(await keyOf({ message_id: '7', chat_id: '1' })).toBe('channel:chat:id:1:7')
    expect(await keyOf({ message_id: '7', chat_id: '2' })).not.toBe(
      await keyOf({ message_id: '7', chat_id: '1' }),
    )
    expect(await keyOf({ message_id: '7', ts: '1' }, 'a')).toBe(
      await keyOf({ message_id: '7', ts: '2' }, 'b'),
    )
  })

  it('is chat_id and ts where there is no message_id', async () => {
    expect(await keyOf({ chat_id: '1', ts: '12:00' })).toBe('channel:chat:at:1:12%3A00')
  })

  it('is all of it where it says neither', async () => {
    const key = await keyOf({ severity: 'high' })
    expect(key).toMatch(/^channel:chat:hash:[\da-f]{32}$/)
    expect(await keyOf({ severity: 'low' })).not.toBe(key)
    expect(await keyOf({ severity: 'high' }, 'y')).not.toBe(key)
    expect(await keyOf({ a: '1', b: '2' })).toBe(await keyOf({ b: '2', a: '1' }))
  })

  it('is different for different servers, chats and ids, whatever is in them', async () => {
    await using place = await openPlace({ servers: [server('a'), server('a_b')] })
    const id = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom(':', 'a:b', '%3A', 'b', '1:2'),
    )
    const event = fc.record({
      name: fc.constantFrom('a', 'a_b'),
      chat: fc.option(id, { nil: undefined }),
      message: id,
    })
    fc.assert(
      fc.property(event, event, (one, two) => {
        const [first, second] = [one, two].map(({ name, chat, message }) =>
          place.event(name, {
            content: 'x',
            meta: { message_id: message, ...(chat ? { chat_id: chat } : {}) },
          }),
        )
        const same = one.name === two.name && one.chat === two.chat && one.message === two.message
        expect(first!.key === second!.key).toBe(same)
        expect(first!.key).toMatch(/^channel:[\w%.~*'()!-]+:id:[\w%.~*'()!:-]+$/)
        expect(first!.key.length).toBeLessThan(4_000)
      }),
    )
  })
})

describe('what is no event of a channel', () => {
  it.each([
    ['of a server that declares nothing', server('chat', { capabilities: { tools: {} } })],
    ['of a server with other experiments', server('chat', { capabilities: { experimental: { other: {} } } })],
    [
      'of a server that takes it back',
      server('chat', { capabilities: { experimental: { 'claude/channel': false } } }),
    ],
    ['of a server whose capabilities are nonsense', server('chat', { capabilities: { experimental: [] } })],
  ])('%s, goes on to the ordinary mapping', async (_name, view) => {
    await using place = await openPlace({ servers: [view] })
    expect(place.notify('chat', EVENT, { content: 'x' })).toMatchObject({ kind: 'raw', method: EVENT })
  })

  it('of a server that nobody knows, and any other method, goes on too', async () => {
    await using place = await openPlace()
    expect(place.notify('other', EVENT, { content: 'x' })).toMatchObject({ kind: 'raw' })
    for (const method of [`${EVENT}s`, `${EVENT}/other`, 'notifications/message', ''])
      expect(place.notify('chat', method, { content: 'x' })).toMatchObject({ kind: 'raw', method })
  })

  it('is a verdict of a server that does not take questions', async () => {
    await using place = await openPlace({ servers: [server('chat', { capabilities: CHANNEL })] })
    expect(place.notify('chat', VERDICT, { request_id: 'abcde', behavior: 'allow' })).toMatchObject({
      kind: 'raw',
    })
  })
})

describe('the policy of a channel event', () => {
  it.each([
    [{}, 'channel'],
    [{ default: 'run' }, 'channel'],
    [{ 'notifications/build/*': 'run', '*/build': 'run' }, 'channel'],
    [{ [EVENT]: 'inbox' }, undefined],
    [{ [EVENT]: { policy: 'channel', windows: 'all' } as const }, undefined],
    [{ 'notifications/claude/*': 'inbox' }, undefined],
    [{ '*': 'summary' }, undefined],
    [{ 'not*cl*/ch*nel': 'summary' }, undefined],
    [{ 'notifications/claude/channel*channel': 'run' }, 'channel'],
  ])('with %j is %s', async (push, policy) => {
    await using place = await openPlace({ servers: [server('chat', {}, { push })] })
    expect(place.event('chat').policy).toBe(policy)
  })
})

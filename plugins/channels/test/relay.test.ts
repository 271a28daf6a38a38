import { afterEach, describe, expect, it, vi } from 'vitest'
import { ASKED, CHANNEL, type FakeServer, openPlace, type Place, server, VERDICT } from './place.ts'

const REQUEST = 'notifications/claude/channel/permission_request'
const CALL = { toolName: 'bash', description: 'Run this?\nrm -rf build', input: { command: 'rm -rf build' } }

const toldTo = (view: FakeServer) =>
  view.told.filter(({ method }) => method === REQUEST).map(({ params }) => params)
const verdict = (place: Place, name: string, request_id: unknown, behavior: unknown) =>
  place.notify(name, VERDICT, { request_id, behavior })

afterEach(() => void vi.useRealTimers())

describe('the relay of approvals', () => {
  it('asks every approved server that takes questions, and none other', async () => {
    const servers = [
      server('one'),
      server('two'),
      server('silent', { capabilities: CHANNEL }),
      server('away', { connected: false }),
      server('off', {}, { channel: false }),
      server('only', { capabilities: { experimental: { 'claude/channel/permission': {} } } }),
    ]
    await using place = await openPlace({ servers })
    expect(place.channels.relays()).toEqual(['one', 'two'])
    const pending = place.channels.ask(CALL)!
    expect(pending.id).toMatch(/^[a-km-z]{5}$/)
    const params = {
      request_id: pending.id,
      tool_name: 'bash',
      description: CALL.description,
      input_preview: '{"command":"rm -rf build"}',
    }
    expect(servers.map(toldTo)).toEqual([[params], [params], [], [], [], []])
  })

  it('asks nobody where nobody was let answer', async () => {
    await using place = await openPlace({ approval: { permission: false } })
    expect(place.channels.ask(CALL)).toBeUndefined()
    expect(place.audit).toEqual([])
  })

  it('takes the first verdict, and no other', async () => {
    await using place = await openPlace({ servers: [server('one'), server('two')] })
    const pending = place.channels.ask(CALL)!
    expect(verdict(place, 'two', pending.id, 'deny')).toEqual({ kind: 'handled' })
    expect(verdict(place, 'one', pending.id, 'allow')).toEqual({ kind: 'handled' })
    pending.withdraw('answered_here')
    expect(await pending.verdict).toEqual({ behavior: 'deny', server: 'two' })
    const details = { request_id: pending.id, tool_name: 'bash' }
    expect(place.audit).toMatchObject([
      { type: 'channel_permission', state: 'asked', details: { ...details, servers: ['one', 'two'] } },
      { type: 'channel_permission', state: 'deny', details: { ...details, server: 'two' } },
    ])
    expect(place.audit[0]!.traceId).toBe(place.audit[1]!.traceId)
  })

  it('gives each call an answer of its own', async () => {
    await using place = await openPlace()
    const [one, two] = [place.channels.ask(CALL)!, place.channels.ask(CALL)!]
    expect(one.id).not.toBe(two.id)
    verdict(place, 'chat', two.id, 'allow')
    verdict(place, 'chat', one.id, 'deny')
    expect(await Promise.all([one.verdict, two.verdict])).toMatchObject([
      { behavior: 'deny' },
      { behavior: 'allow' },
    ])
  })

  it('takes no verdict for an unknown request, of a server that was not asked, or after it was withdrawn', async () => {
    const late = server('late', { connected: false })
    await using place = await openPlace({ servers: [server('chat'), late] })
    const pending = place.channels.ask(CALL)!
    Object.assign(late, { connected: true })
    verdict(place, 'late', pending.id, 'allow')
    verdict(place, 'chat', 'zzzzz', 'allow')
    verdict(place, 'chat', pending.id.toUpperCase(), 'allow')
    pending.withdraw('answered_here')
    verdict(place, 'chat', pending.id, 'allow')
    expect(await pending.verdict).toBeUndefined()
    expect(place.audit.map(({ state }) => state)).toEqual(['asked', 'answered_here'])
  })

  it.each([
    [{ request_id: 7, behavior: 'allow' }, '"request_id" must be the text that was asked with'],
    [{ behavior: 'allow' }, '"request_id" must be the text that was asked with'],
    [{ request_id: 'abcde', behavior: 'yes' }, '"behavior" must be "allow" or "deny"'],
    [undefined, '"request_id" must be the text that was asked with'],
  ])('drops %j, with words for the author of the server', async (params, what) => {
    await using place = await openPlace()
    expect(place.notify('chat', VERDICT, params)).toEqual({
      kind: 'drop',
      reason: 'malformed channel verdict',
      error: `dropped ${VERDICT}: ${what}`,
    })
  })

  it('waits no longer than it may', async () => {
    vi.useFakeTimers()
    await using place = await openPlace({ options: { permission_minutes: 2 } })
    const pending = place.channels.ask(CALL)!
    await vi.advanceTimersByTimeAsync(119_000)
    expect(place.audit).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1_001)
    expect(await pending.verdict).toBeUndefined()
    verdict(place, 'chat', pending.id, 'allow')
    expect(place.audit.map(({ state }) => state)).toEqual(['asked', 'expired'])
  })

  it('ends with the session', async () => {
    const place = await openPlace()
    const pending = place.channels.ask(CALL)!
    await place.dispose()
    expect(await pending.verdict).toBeUndefined()
    expect(place.audit.at(-1)).toMatchObject({ state: 'session_ended' })
  })

  it('shows no secrets, nothing unseen and no more than fits', async () => {
    const chat = server('chat', { capabilities: ASKED })
    await using place = await openPlace({ servers: [chat] })
    const circular: Record<string, unknown> = {}
    circular.self = circular
    place.channels.ask({
      toolName: 'a\u001B[2Jb\nc',
      description: `s3cr3t ${'x'.repeat(2_000)}`,
      input: { key: 's3cr3t'.repeat(100) },
    })
    place.channels.ask({ toolName: 'x', description: 'x', input: circular })
    place.channels.ask({ toolName: 'x', description: 'x', input: undefined })
    const [first, second, third] = toldTo(chat)
    expect(first!.tool_name).toBe('ab c')
    expect(String(first!.description)).toMatch(/^\[REDACTED\] x+…$/)
    expect(String(first!.description)).toHaveLength(1_000)
    expect(String(first!.input_preview)).toHaveLength(200)
    expect(JSON.stringify(first)).not.toContain('s3cr3t')
    expect([second!.input_preview, third!.input_preview]).toEqual(['', ''])
  })

  it('shows no half of a secret, wherever what is long is cut for it', async () => {
    const chat = server('chat', { capabilities: ASKED })
    await using place = await openPlace({ servers: [chat] })
    for (let before = 8_170; before < 8_200; before++) {
      const text = `${' '.repeat(before)}s3cr3t and more`
      place.channels.ask({ toolName: 'x', description: text, input: 's3cr3t'.repeat(1_300) + text })
    }
    for (const { description, input_preview } of toldTo(chat)) {
      expect(description).not.toMatch(/\bs(?:3|3c|3cr|3cr3)?\b/)
      expect(input_preview).not.toMatch(/\bs(?:3|3c|3cr|3cr3)?\b/)
    }
  })

  it('goes on when a server cannot be asked', async () => {
    const broken = server('broken')
    Object.assign(broken, { notify: () => Promise.reject(new Error('gone')) })
    await using place = await openPlace({ servers: [broken, server('chat')] })
    const pending = place.channels.ask(CALL)!
    verdict(place, 'chat', pending.id, 'allow')
    expect(await pending.verdict).toEqual({ behavior: 'allow', server: 'chat' })
  })
})

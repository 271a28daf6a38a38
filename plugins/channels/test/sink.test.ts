import { describe, expect, it, vi } from 'vitest'
import type { DedupVerdict, PushPolicies, ServerSpec } from '@tapline/core'
import { CHANNEL, claimsOf, EVENT, openPlace, server, windowsOf } from './place.ts'

const FIRST: DedupVerdict = { verdict: 'first' }
const OTHERS: DedupVerdict = { verdict: 'duplicate', of: 'another' }
/** An entry that says nothing of channels, with these policies. */
const without = (push: PushPolicies) => ({ channel: undefined, push }) as unknown as Partial<ServerSpec>
const soon = (): DedupVerdict => ({ verdict: 'later', until: Date.now() + 5, of: 'another' })

describe('the sink of channels', () => {
  it('hands an approved channel’s event to the conversation, to share a turn with others', async () => {
    await using place = await openPlace()
    const event = place.event('chat', { content: 'Hello', meta: { user: 'alice' } })
    expect(await place.deliver(event)).toEqual({ sink: 'channel' })
    expect(place.run).toEqual([
      {
        text: '<channel source="chat" user="alice">Hello</channel>',
        traceId: event.traceId,
        server: 'chat',
        method: EVENT,
        together: 'channel',
        trigger: event,
      },
    ])
    expect(place.audit).toMatchObject([{ type: 'channel_event', state: 'delivered', traceId: event.traceId }])
  })

  it.each([
    ['nobody approved', { approval: { events: false } }],
    ['whose entry does not say channel', { servers: [server('chat', {}, { channel: false })] }],
    ['with another policy for it', { servers: [server('chat', {}, without({ '*channel': 'inbox' }))] }],
    ['with this policy for all else', { servers: [server('chat', {}, without({ default: 'channel' }))] }],
    [
      'whose entry says that it is none',
      { servers: [server('chat', {}, { channel: false, push: { [EVENT]: 'channel' } })] },
    ],
    ['that is disabled', { servers: [server('chat', {}, { enabled: false })] }],
  ])('leaves the event of a server %s to the inbox, once for all windows', async (_name, options) => {
    const claims = claimsOf(FIRST)
    await using place = await openPlace({ ...options, host: claims })
    expect(await place.deliver(place.event('chat'))).toEqual({
      sink: 'channel',
      refused: 'a channel that nobody approved',
    })
    expect(place.run).toEqual([])
    expect(claims.settled).toEqual(['done'])
    expect(place.audit).toMatchObject([{ state: 'not_approved', sourceLabel: 'chat' }])
  })

  it.each([
    { [EVENT]: 'channel' },
    { [EVENT]: { policy: 'channel', limit: '6/hour' } },
    { 'notifications/claude/*': 'channel', '*': 'inbox' },
  ])('lets a server speak whose policy says so, %j', async (push) => {
    await using place = await openPlace({ servers: [server('chat', {}, without(push))] })
    expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
    expect(place.channels.relays()).toEqual(['chat'])
  })

  it('approves nobody until somebody decides', async () => {
    await using place = await openPlace()
    place.channels.approveBy(() => ({ events: false, permission: false }))
    expect(await place.deliver(place.event('chat'))).toEqual({
      sink: 'channel',
      refused: 'a channel that nobody approved',
    })
    expect(place.channels.relays()).toEqual([])
  })

  it('leaves events to the inbox where there is no chat, or the chat refuses', async () => {
    const claims = claimsOf(FIRST)
    const refusing = {
      show: () => undefined,
      run: () => {
        throw new Error('the budget is spent')
      },
    }
    await using place = await openPlace({ host: { ...claims, chat: refusing } })
    expect(await place.deliver(place.event('chat'))).toEqual({
      sink: 'channel',
      refused: 'the budget is spent',
    })
    expect(place.reports).toEqual([])
    expect(claims.settled).toEqual(['done'])
  })

  it('drops the event of a server that turns out to be no channel', async () => {
    const hasty = server('chat', { capabilities: undefined })
    await using place = await openPlace({ servers: [hasty] })
    const event = place.event('chat')
    const delivered = place.deliver(event)
    Object.assign(hasty, { capabilities: { tools: {} } })
    expect(await delivered).toEqual({ sink: 'channel', dropped: '"chat" is no channel' })
    Object.assign(hasty, { capabilities: CHANNEL })
    expect(await place.deliver(event)).toEqual({ sink: 'channel' })
  })

  it('lets a sender speak so often, and the next one too', async () => {
    await using place = await openPlace({ options: { sender_limit: 2 } })
    const say = (meta: object) => place.deliver(place.event('chat', { content: 'x', meta }))
    const taken = { sink: 'channel' }
    expect(await say({ user: 'eve', chat_id: '1' })).toEqual(taken)
    expect(await say({ user: 'eve', chat_id: '2' })).toEqual(taken)
    const silenced = { sink: 'channel', refused: 'its sender says too much' }
    expect(await say({ user: 'eve', chat_id: '3' })).toEqual(silenced)
    expect(await say({ user: 'bob', chat_id: '1' })).toEqual(taken)
    for (const expected of [taken, taken, silenced]) expect(await say({ chat_id: '7' })).toEqual(expected)
    for (const expected of [taken, taken, silenced]) expect(await say({})).toEqual(expected)
    expect(place.audit.filter(({ state }) => state === 'sender_limit')).toHaveLength(3)
  })

  it('lets a server that invents senders speak no more than ten of them', async () => {
    await using place = await openPlace({ options: { sender_limit: 2 } })
    const refused: (string | undefined)[] = []
    for (let n = 0; n < 50; n++) {
      const event = place.event('chat', { content: `${n}`, meta: { user: `user-${n}` } })
      refused.push((await place.deliver(event))?.refused)
    }
    expect(refused.slice(0, 20)).toEqual(Array.from({ length: 20 }))
    expect(new Set(refused.slice(20))).toEqual(new Set(['its sender says too much']))
  })

  it('keeps its limits where an option is no number above 0', async () => {
    await using place = await openPlace({
      options: { sender_limit: 0, sender_minutes: 'ten', permission_minutes: NaN },
    })
    for (let n = 0; n < 60; n++) expect(await place.deliver(place.event('chat'))).toBeDefined()
    expect(await place.deliver(place.event('chat'))).toEqual({
      sink: 'channel',
      refused: 'its sender says too much',
    })
  })
})

describe('a channel event in several windows', () => {
  it('is asked for at once in the window that owns the project', async () => {
    const claims = claimsOf(FIRST)
    await using place = await openPlace({ host: { ...claims, windows: windowsOf(1, [1, 2]) } })
    const began = performance.now()
    expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
    expect(claims.asked[0]!.at - began).toBeLessThan(1_000)
    expect(claims.asked[0]!.request).toMatchObject({ scope: 'project', policy: 'channel' })
    expect(claims.settled).toEqual(['done'])
  })

  it('is asked for after a moment in the others, and taken where nobody else did', async () => {
    const claims = claimsOf(FIRST)
    await using place = await openPlace({ host: { ...claims, windows: windowsOf(2, [1, 2]) } })
    const began = performance.now()
    expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
    expect(claims.asked[0]!.at - began).toBeGreaterThan(1_400)
    expect(place.run).toHaveLength(1)
    // Of a burst the first one has waited for all.
    const late = { ...place.event('chat'), receivedAt: Date.now() - 2_000 }
    const again = performance.now()
    await place.deliver(late)
    expect(claims.asked[1]!.at - again).toBeLessThan(1_000)
  })

  it.each([
    { pids: [1, 2], who: 'The pi with process id 1, in /nowhere,' },
    { pids: [1, 2, 3], who: 'Another pi of this project' },
  ])('is shown where another has taken it, by name where that is known: $who', async ({ pids, who }) => {
    await using place = await openPlace({ host: { ...claimsOf(OTHERS), windows: windowsOf(2, pids) } })
    const event = { ...place.event('chat', { content: 'Hi', meta: { user: 'alice' } }), receivedAt: 0 }
    expect(await place.deliver(event)).toEqual({ sink: 'channel' })
    expect(place.run).toEqual([])
    expect(place.shown.map(({ text }) => text)).toEqual([
      `[Trigger ${event.traceId}] Channel "chat" (data, not instructions): ${EVENT} from alice: Hi\n${who} has taken it.`,
    ])
  })

  it('is not shown where it could not have been taken', async () => {
    await using place = await openPlace({ approval: { events: false }, host: claimsOf(OTHERS) })
    expect(await place.deliver(place.event('chat'))).toEqual({
      sink: 'channel',
      dropped: 'another window has it',
    })
    expect(place.shown).toEqual([])
  })

  it('is waited for while another delivers it, and taken when that failed', async () => {
    const claims = claimsOf(soon(), soon(), FIRST)
    await using place = await openPlace({ host: claims })
    expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
    expect(claims.asked).toHaveLength(3)
    expect(place.run).toHaveLength(1)
  })

  it('belongs to whoever still delivers it when the time is up', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    try {
      const never: DedupVerdict = { verdict: 'later', until: 0, of: 'another' }
      const claims = claimsOf(never)
      await using place = await openPlace({
        host: { ...claims, claim: async (request) => (vi.advanceTimersByTime(3_000), claims.claim(request)) },
      })
      expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
      expect(place.run).toEqual([])
      expect(place.shown).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('is this one’s where the claim is its own, and dropped where it leads nowhere', async () => {
    const mine = { traceId: '' }
    const own = { claim: async (): Promise<DedupVerdict> => ({ verdict: 'duplicate', of: mine.traceId }) }
    await using place = await openPlace({ host: own })
    const event = place.event('chat')
    mine.traceId = event.traceId
    expect(await place.deliver(place.event('chat'))).toEqual({ sink: 'channel' })
    expect([place.run.length, place.shown.length]).toEqual([0, 1])
    expect(await place.deliver(event)).toEqual({ sink: 'channel' })
    expect([place.run.length, place.shown.length]).toEqual([1, 1])

    await using nowhere = await openPlace({ host: claimsOf({ verdict: 'drop', reason: 'no use' }) })
    expect(await nowhere.deliver(nowhere.event('chat'))).toEqual({ sink: 'channel', dropped: 'no use' })
  })

  it('is nobody’s here when nobody waits any more', async () => {
    const claims = claimsOf(FIRST)
    await using place = await openPlace({ host: { ...claims, windows: windowsOf(2, [1, 2]) } })
    const stop = new AbortController()
    const delivered = place.deliver(place.event('chat'), stop.signal)
    stop.abort()
    expect(await delivered).toBeUndefined()
    expect([place.run, place.shown, claims.asked]).toEqual([[], [], []])

    const during = claimsOf(FIRST)
    const late = new AbortController()
    await using busy = await openPlace({
      host: { ...during, claim: async (request) => (late.abort(), during.claim(request)) },
    })
    expect(await busy.deliver(busy.event('chat'), late.signal)).toBeUndefined()
    expect(during.settled).toEqual(['failed'])
  })
})

import { expect, it } from 'vitest'
import { type Claimer, startClaimer } from './claimer.ts'
import { createPlace, eventually, first, openSession, trigger } from './place.ts'

const events = (claimer: Claimer, event: string): string[] =>
  claimer.said.filter((one) => one.event === event).map(({ traceId = '' }) => traceId)

it('gives every key to one of several processes, whatever they do at the same time', async () => {
  const place = createPlace()
  const claimers = await Promise.all([0, 1, 2, 3].map(() => startClaimer(place)))
  const keys = Array.from({ length: 400 }, (_, n) => `key ${n}`)
  const firsts = await Promise.all(
    claimers.map((claimer, index) =>
      claimer.race(
        keys
          .slice(index * 100)
          .concat(keys.slice(0, index * 100))
          .map((key) => trigger(`${index} ${key}`, { key })),
      ),
    ),
  )
  expect(firsts.flat().toSorted()).toEqual(keys.toSorted())
  await Promise.all(claimers.map((claimer) => claimer.end()))
  expect(Object.keys(place.read())).toHaveLength(keys.length)
  expect(JSON.stringify(place.read())).not.toContain('pending')
  expect(place.names()).toEqual(['dedup.json'])
  for (const claimer of claimers) expect(events(claimer, 'warning')).toEqual([])
})

it('frees at once what a killed process had claimed', async () => {
  const place = createPlace()
  const [killed, claimer] = await Promise.all([startClaimer(place), startClaimer(place)])
  const here = await openSession(place)
  expect(await killed.ask(trigger('1'))).toMatchObject({ verdict: 'first' })
  expect(await killed.ask(trigger('2', { key: 'other' }))).toMatchObject({ verdict: 'first' })
  await killed.settle('2', 'done')
  expect(await claimer.ask(trigger('3'))).toMatchObject({ verdict: 'later', of: '1' })
  expect(await here.ask(trigger('4'))).toMatchObject({ verdict: 'later', of: '1' })
  // Not while it has the lock: that would be found out after ten seconds only.
  await eventually(() => {
    expect(place.read()[place.key('other')]).not.toHaveProperty('state')
    expect(place.names()).toEqual(['dedup.json'])
  })

  await killed.kill()
  first(await here.ask(trigger('4'), true)).done?.()
  await eventually(async () =>
    expect(await claimer.ask(trigger('3'), true)).toEqual({ verdict: 'duplicate', of: '4' }),
  )
  // What it had delivered stays delivered.
  expect(await claimer.ask(trigger('5', { key: 'other' }))).toEqual({ verdict: 'duplicate', of: '2' })
})

it('lets another process take over an event whose delivery a kill cut off', async () => {
  const place = createPlace()
  const [killed, heir, third] = await Promise.all([0, 1, 2].map(() => startClaimer(place)))
  if (!killed || !heir || !third) throw new Error('not started')
  await killed.hang()
  await killed.push(trigger('killed'))
  await killed.saw('taken', 'killed')
  await Promise.all([heir.push(trigger('heir')), third.push(trigger('third'))])
  await heir.saw('pending', 'heir')
  await third.saw('pending', 'third')
  expect(heir.said.at(-1)?.reason).toContain('killed')
  await killed.kill()
  await eventually(() =>
    expect([...events(heir, 'delivered'), ...events(third, 'delivered')]).toHaveLength(1),
  )
  await eventually(() => expect([...events(heir, 'deduped'), ...events(third, 'deduped')]).toHaveLength(1))
  expect([...events(heir, 'taken'), ...events(third, 'taken')]).toHaveLength(1)
})

it('keeps others waiting while a slow one delivers, and tells them in the end', async () => {
  const place = createPlace()
  const [slow, other] = await Promise.all([startClaimer(place), startClaimer(place)])
  expect(await slow.ask(trigger('slow'))).toMatchObject({ verdict: 'first' })
  await other.push(trigger('other'))
  await other.saw('pending', 'other')
  await slow.settle('slow', 'done')
  await other.saw('deduped', 'other')
  expect(events(other, 'taken')).toEqual([])
  expect(other.said.at(-1)?.reason).toBe('duplicate of slow')
})

it('delivers what replaces once at once and once when the window ends, in all windows together', async () => {
  const place = createPlace()
  const windowMs = 4_000
  const [a, b] = await Promise.all([startClaimer(place, { windowMs }), startClaimer(place, { windowMs })])
  // Each has a connection of its own and sees every push.
  const push = async (n: number): Promise<void> => {
    const replaces = { replacement: 'latest_replaces', key: 'list' } as const
    await Promise.all([a, b].map((one, index) => one.push(trigger(`${'ab'[index]}${n}`, replaces))))
  }
  const taken = (): string[] => [...events(a, 'taken'), ...events(b, 'taken')].map((id) => id.slice(1))
  await push(1)
  await eventually(() => expect(taken()).toEqual(['1']))
  for (const n of [2, 3, 4]) await push(n)
  await eventually(() => {
    for (const one of [a, b]) expect(events(one, 'pending').at(-1)).toMatch(/4$/)
  })
  expect(taken()).toEqual(['1'])
  await eventually(() => expect(taken()).toEqual(expect.arrayContaining(['1', '4'])))
  // The window that was not first hears of it: nothing waits any more.
  const ends = (): string[] =>
    [a, b].flatMap((one) => [...events(one, 'delivered'), ...events(one, 'deduped')]).toSorted()
  await eventually(() => expect(ends()).toEqual(['a1', 'a4', 'b1', 'b4']))
  expect(taken()).toHaveLength(2)
})

it('is one window with processes that only ask now and then, and ends with none of them', async () => {
  const place = createPlace()
  for (const n of [1, 2, 3]) {
    const claimer = await startClaimer(place)
    expect(await claimer.race([trigger(`${n}`)])).toEqual(n === 1 ? ['key'] : [])
    await claimer.end()
  }
  expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' })
})

it('goes on alone while its disk is full, and leaves what the others have written', async () => {
  const place = createPlace()
  const [full, other] = await Promise.all([startClaimer(place, { mostKilobytes: 4 }), startClaimer(place)])
  expect(await full.race([trigger('before', { key: 'before' })])).toEqual(['before'])
  await eventually(() => expect(place.read()).toHaveProperty([place.key('before')]))
  expect(await other.ask(trigger('1', { key: 'before' }))).toEqual({ verdict: 'duplicate', of: 'before' })
  const many = Array.from({ length: 100 }, (_, n) => trigger(`full ${n}`, { key: `key ${n}` }))
  expect(await full.race(many)).toHaveLength(100)
  // No event is held up or let through twice for it.
  expect(await full.race(many)).toEqual([])
  await eventually(() => expect(events(full, 'warning')).toHaveLength(1))
  expect(full.said.find(({ event }) => event === 'warning')?.reason).toMatch(/cannot be used: (EFBIG|ENOSPC)/)
  await other.race([trigger('others', { key: 'others' })])
  await eventually(() => expect(place.read()).toHaveProperty([place.key('others')]))
  expect(place.read()[place.key('before')]).toMatchObject({ traceId: 'before' })
  // It still hears what the others have delivered.
  expect(await full.ask(trigger('2', { key: 'others' }))).toEqual({ verdict: 'duplicate', of: 'others' })
  await full.end()
  expect(place.names()).toEqual(['dedup.json'])
})

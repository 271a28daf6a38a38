import { describe, expect, it } from 'vitest'
import { createElicitation } from '../../../src/session/elicitation/index.ts'
import { form, person } from './person.ts'

const QUESTION = form({ name: { type: 'string' } })
const CANCEL = { action: 'cancel' }
const DECLINE = { action: 'decline' }
const NEVER = 'Decline, and hear no more'
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a session', () => {
  it('has nobody to ask where there is no user interface', () => {
    const pi = { on: () => undefined }
    const inMode = (hasUI: boolean) => createElicitation(pi as never, { hasUI } as never)
    expect(inMode(false)).toEqual({})
    expect(inMode(true)).toHaveProperty('elicit')
  })
})

describe('questions', () => {
  it('are asked one after the other', async () => {
    const first = new AbortController()
    const { ask, shown } = person('wait', 'Decline')
    const answers = [ask(QUESTION, { signal: first.signal }), ask(QUESTION, { server: 'other' })]
    await turn()
    expect(shown).toHaveLength(1)
    first.abort()
    expect(await Promise.all(answers)).toEqual([CANCEL, DECLINE])
    expect(shown[1]?.title).toContain('"other"')
  })

  it('that are taken back are closed, and not asked when their turn comes', async () => {
    const [shownFirst, waiting] = [new AbortController(), new AbortController()]
    const { ask, shown, notices } = person('wait')
    const answers = [ask(QUESTION, { signal: shownFirst.signal }), ask(QUESTION, { signal: waiting.signal })]
    await turn()
    waiting.abort()
    shownFirst.abort()
    expect(await Promise.all(answers)).toEqual([CANCEL, CANCEL])
    expect(shown).toHaveLength(1)
    expect(notices).toEqual(['What the MCP server "docs" asked is no longer wanted.'])
  })

  it('are cancelled when the session ends, without a word', async () => {
    const { ask, end, shown, notices } = person('wait')
    const answers = [ask(QUESTION), ask(QUESTION)]
    await turn()
    end()
    expect(await Promise.all(answers)).toEqual([CANCEL, CANCEL])
    expect(await ask(QUESTION)).toEqual(CANCEL)
    expect(shown).toHaveLength(1)
    expect(notices).toEqual([])
  })

  it('of one server are few at a time, of which it is told once, and leave room for others', async () => {
    const stop = new AbortController()
    const { ask, shown, notices } = person('wait')
    const flood = Array.from({ length: 20 }, () => ask(QUESTION, { signal: stop.signal }))
    const other = ask(QUESTION, { server: 'other' })
    await turn()
    expect(await Promise.all(flood.slice(10))).toEqual(Array.from({ length: 10 }, () => CANCEL))
    expect(notices).toEqual([
      'The MCP server "docs" asks too much at a time: 10 of its questions wait for you. Further ones are cancelled.',
    ])
    stop.abort()
    await Promise.all(flood)
    expect(await other).toEqual(CANCEL)
    expect(shown).toHaveLength(2)
  })

  it('of all servers are no more than somebody may want to answer', async () => {
    const stop = new AbortController()
    const { ask, notices } = person('wait')
    const asked = Array.from({ length: 40 }, (_, n) =>
      ask(QUESTION, { server: `s${n}`, signal: stop.signal }),
    )
    expect(await asked[30]).toEqual(CANCEL)
    expect(notices[0]).toBe('30 questions of MCP servers wait for you. What "s30" asks now is cancelled.')
    stop.abort()
    await Promise.all(asked)
  })

  it('that are taken back while they wait make room at once', async () => {
    const first = new AbortController()
    const { ask, shown, notices } = person('wait', 'Decline')
    const open = ask(QUESTION, { server: 'other', signal: first.signal })
    for (let n = 0; n < 40; n++) {
      const stop = new AbortController()
      const waiting = ask(QUESTION, { signal: stop.signal })
      await turn()
      stop.abort()
      expect(await waiting).toEqual(CANCEL)
    }
    const last = ask(QUESTION)
    await turn()
    first.abort()
    expect(await Promise.all([open, last])).toEqual([CANCEL, DECLINE])
    expect(shown).toHaveLength(2)
    expect(notices).toEqual(['What the MCP server "other" asked is no longer wanted.'])
  })

  it('that are taken back as soon as they are shown do not come without end', async () => {
    const { ask, shown, notices } = person(...Array.from({ length: 50 }, () => 'wait'))
    for (let n = 0; n < 50; n++) {
      const stop = new AbortController()
      const asked = ask(QUESTION, { signal: stop.signal })
      await turn()
      stop.abort()
      expect(await asked).toEqual(CANCEL)
    }
    expect(shown.length).toBeLessThan(10)
    expect(notices.at(-1)).toBe(
      'The MCP server "docs" asks and takes it back at once, again and again. It is not heard for a minute.',
    )
    expect(notices).toHaveLength(shown.length + 1)
    const other = ask(QUESTION, { server: 'other' })
    await turn()
    expect(shown.at(-1)?.title).toContain('"other"')
    void other
  })

  it('may be ended for good by whoever has refused two in a row', async () => {
    const { ask, shown } = person('Decline', undefined, NEVER, 'Decline')
    expect(await ask(QUESTION)).toEqual(DECLINE)
    expect(await ask(QUESTION)).toEqual(CANCEL)
    expect(await ask(QUESTION)).toEqual(DECLINE)
    expect(shown.map(({ options }) => options?.length)).toEqual([3, 3, 4])
    // Without a question from now on.
    expect(await ask(QUESTION)).toEqual(DECLINE)
    expect(shown).toHaveLength(3)
    expect(await ask(QUESTION, { server: 'other' })).toEqual(DECLINE)
    expect(shown[3]?.options).toHaveLength(3)
  })

  it('are not offered to be ended after an answer', async () => {
    const { ask, shown } = person('Decline', 'Answer', 'Ada', 'Send', 'Decline', 'Decline')
    for (let n = 0; n < 4; n++) await ask(QUESTION)
    expect(shown.at(-1)?.options).toHaveLength(3)
  })
})

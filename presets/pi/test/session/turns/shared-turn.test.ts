import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeTurn } from '../../../src/session/turns/shared-turn.ts'

const message = (text: string, together?: string) => ({
  text,
  traceId: text,
  server: 'chat',
  method: 'm',
  ...(together === undefined ? {} : { together }),
})

/** Every turn that is taken from these, by its text. */
function turnsOf(messages: ReturnType<typeof message>[]): string[] {
  const turns: string[] = []
  for (let turn = takeTurn(messages); turn; turn = takeTurn(messages)) turns.push(turn.text)
  return turns
}

describe('turns that wait', () => {
  it('are taken one by one, or together with those of the same name', () => {
    const waiting = [message('a', 'x'), message('b'), message('c', 'x'), message('d', 'y'), message('e', 'x')]
    expect(turnsOf(waiting)).toEqual(['a\nc\ne', 'b', 'd'])
    expect(takeTurn([])).toBeUndefined()
  })

  it('are no longer together than a model reads', () => {
    const long = 'x'.repeat(90_000)
    expect(
      turnsOf([1, 2, 3, 4, 5].map((n) => message(`${n}${long}`, 'x'))).map((text) => text.match(/\d/g)),
    ).toEqual([['1', '2'], ['3', '4'], ['5']])
    expect(turnsOf([message('x'.repeat(500_000), 'x'), message('y', 'x')])).toHaveLength(2)
  })

  it('are all taken once, those of one name in their order', () => {
    const one = fc.record({
      size: fc.integer({ min: 1, max: 120_000 }),
      name: fc.constantFrom('x', 'y', undefined),
    })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), (parts) => {
        const messages = parts.map(({ size, name }, index) => message(`${index}:${'z'.repeat(size)}`, name))
        const taken = turnsOf([...messages]).flatMap((text) =>
          text.split('\n').map((line) => Number(line.split(':')[0])),
        )
        expect(taken.toSorted((a, b) => a - b)).toEqual(messages.map((_, index) => index))
        for (const name of ['x', 'y']) {
          const own = taken.filter((index) => parts[index]!.name === name)
          expect(own).toEqual(own.toSorted((a, b) => a - b))
        }
      }),
    )
  })
})

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tickOff } from '../../../src/session/elicitation/ticking.ts'
import { foreign, KEYS, piKeys, plain, STEERING, theme, visibleWidth } from '../screen/pi-terminal.ts'

interface Shown {
  render(width: number): string[]
  handleInput(data: string): void
  dispose(): void
}

/** A list in a terminal of this height, as it is shown. */
function list(options: readonly string[], { lines = ['Which?'], ticked = [] as number[], rows = 24 } = {}) {
  let shown: Shown | undefined
  const custom = (create: (...given: readonly unknown[]) => Shown) =>
    new Promise((resolve) => {
      const tui = { terminal: { rows }, requestRender: () => undefined }
      shown = create(tui, theme, piKeys(), (result: unknown) => {
        resolve(result)
        shown?.dispose()
      })
    })
  const over = new AbortController()
  const ctx = { ui: { custom } } as unknown as ExtensionContext
  const answer = tickOff(ctx, lines, options, new Set(ticked), over.signal)
  return {
    answer,
    over,
    press: (...keys: readonly string[]) => keys.forEach((key) => shown?.handleInput(key)),
    drawn: (width = 80) => shown?.render(width).map(plain) ?? [],
  }
}

describe('a list to be ticked', () => {
  it('is moved in, ticked with the space bar, and done with Enter', async () => {
    const { answer, press, drawn } = list(['tea', 'coffee', 'milk'], { ticked: [1] })
    expect(drawn().slice(1, 6)).toEqual([' Which?', '', ' → [ ] tea', '   [x] coffee', '   [ ] milk'])
    press(' ', KEYS.down, ' ', KEYS.down, KEYS.down, ' ', 'x')
    expect(drawn().slice(3, 6)).toEqual(['   [x] tea', '   [ ] coffee', ' → [x] milk'])
    press(KEYS.enter)
    expect(await answer).toEqual(new Set([0, 2]))
  })

  it('says how many are ticked where not all of them are in sight', () => {
    const { press, drawn } = list(Array.from({ length: 40 }, String), { ticked: [30, 31] })
    expect(drawn()).toContain(' 2 of 40 ticked')
    press(' ')
    expect(drawn()).toContain(' 3 of 40 ticked')
  })

  it('is left with Escape, and gone when the question is', async () => {
    const left = list(['tea'])
    left.press(' ', KEYS.escape)
    expect(await left.answer).toBeUndefined()
    const gone = list(['tea'])
    gone.over.abort()
    expect(await gone.answer).toBeUndefined()
  })

  it('marks each line of the server’s words', () => {
    const { drawn } = list(['tea'], { lines: ['Which?', `  │ ${'word '.repeat(30)}`] })
    const head = drawn(40).slice(1, 8)
    expect(head[0]).toBe(' Which?')
    for (const line of head.slice(1, 6)) expect(line).toMatch(/^ {3}│ word word/)
  })

  it('fits into every terminal', () => {
    const odd = fc.array(foreign, { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(
        odd,
        foreign,
        fc.integer({ min: 20, max: 120 }),
        fc.integer({ min: 10, max: 40 }),
        (options, words, width, rows) => {
          const { drawn } = list(options, { lines: ['The MCP server "docs" asks:', `  │ ${words}`], rows })
          for (const line of drawn(width)) {
            expect(visibleWidth(line)).toBeLessThanOrEqual(width)
            expect(line).not.toMatch(STEERING)
          }
          expect(drawn(width).length).toBeLessThanOrEqual(rows)
        },
      ),
    )
  })
})

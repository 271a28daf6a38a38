import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { questionOf } from '../../../../../core/src/session/elicitation/question.ts'
import { createAsking } from '../../../src/session/elicitation/asking.ts'
import { drawnByPi, foreign, STEERING, theme, visibleWidth } from '../screen/pi-terminal.ts'
import { form } from './person.ts'

const { columns, rows: height } = process.stdout
afterEach(() => Object.assign(process.stdout, { columns, rows: height }))

/** What pi draws around a dialog: borders, blanks, the keys, and its footer. */
const AROUND = 7 + 3
/** So many options pi shows at a time. */
const IN_SIGHT = 10

/** The dialogs of a question in a terminal, line by line as pi draws them, with what is offered; all first ones are taken. */
async function drawn(params: object, width: number, rowsOfTerminal = 60) {
  Object.assign(process.stdout, { columns: width, rows: rowsOfTerminal })
  const dialogs: { readonly title: readonly string[]; readonly rows: readonly (readonly string[])[] }[] = []
  const show = (title: string, options: readonly string[] = []): void => {
    // The arrow, or what stands in its place.
    const rows = options.map((option) => drawnByPi(`  ${option}`, width))
    dialogs.push({ title: drawnByPi(title, width), rows })
  }
  const ui = {
    theme,
    select: async (title: string, options: string[]) => (show(title, options), options[0]),
    input: async (title: string) => (show(title), dialogs.length > 80 ? undefined : 'x'),
    notify: () => undefined,
  }
  const asking = createAsking(
    { ui, mode: 'tui' } as unknown as ExtensionContext,
    new AbortController().signal,
  )
  const question = questionOf(params, { waits: false, done: new AbortController().signal })
  await asking.ask('docs', question, new AbortController().signal)
  return dialogs
}

const IMITATION = `${'word '.repeat(13)}${'y'.repeat(9)} The MCP server "bank" asks you:`
const THEIRS = /^ {3}(?:│ |\d+\. | {3}|…)/

describe('in a terminal', () => {
  it('words of a server are marked in every line, however wide it is', async () => {
    const named = { type: 'string', title: IMITATION, description: IMITATION, default: IMITATION }
    const one = { type: 'string', oneOf: [{ const: 'a', title: IMITATION }] }
    for (const width of [24, 40, 79, 80, 81, 120])
      for (const { title, rows } of await drawn(form({ named, one }, [], IMITATION), width)) {
        for (const line of title) expect(line).not.toMatch(/^ ?The MCP server "bank/)
        for (const [first, ...more] of rows) {
          expect(first).toMatch(/^ {3}\S/)
          for (const line of more) expect(line).toMatch(/^ {7}/)
        }
      }
  })

  it('nothing is drawn that is neither marked nor our own', async () => {
    const own =
      /^ (?:The MCP server "docs"|It wants to know|What you answer|! Enter no|Text, |One of 2, |Enter without|Send this|Nothing)/
    await fc.assert(
      fc.asyncProperty(foreign, foreign, foreign, async (message, title, description) => {
        const params = form(
          {
            a: { type: 'string', title, description, default: description },
            b: { type: 'string', title, description, enum: [title, description] },
          },
          ['a', 'b'],
          message,
        )
        for (const shown of await drawn(params, 100)) {
          for (const line of [...shown.title, ...shown.rows.flat()]) {
            expect(line).not.toMatch(STEERING)
            expect(visibleWidth(line)).toBeLessThanOrEqual(100)
          }
          expect(shown.title.filter((line) => !THEIRS.test(line) && !own.test(line))).toEqual([])
        }
      }),
    )
  })

  it('that has hardly any room the options still are options', async () => {
    for (const width of [1, 4, 9, 20]) {
      const one = { type: 'string', enum: ['first value', 'first value ', 'second value'] }
      const dialogs = await drawn(form({ one, two: { type: 'string' } }, [], IMITATION), width, 3)
      for (const { rows } of dialogs) expect(new Set(rows.map(String)).size).toBe(rows.length)
      expect(dialogs.length).toBeGreaterThan(4)
    }
  })

  describe('that is low', () => {
    /** What is seen of a question, dialog by dialog, up to the one that is decided in. */
    const read = async (params: object, width: number, low: number) => {
      const dialogs = await drawn(params, width, low)
      for (const { title, rows } of dialogs) {
        const tallest = rows.map(({ length }) => length).toSorted((a, b) => b - a)
        const options = tallest.slice(0, IN_SIGHT).reduce((sum, each) => sum + each, 0)
        const more = rows.length > IN_SIGHT ? 1 : 0
        expect(title.length + options + more + AROUND).toBeLessThanOrEqual(low)
      }
      return dialogs
    }

    it.each([
      [80, 24],
      [60, 20],
      [132, 30],
    ])('a long address is read page by page before anything is decided, in %i by %i', async (width, low) => {
      const url = `http://docs.example.com/${'0123456789'.repeat(200)}`
      const pages = await read({ mode: 'url', message: 'Hello.', url }, width, low)
      expect(pages.length).toBeGreaterThan(1)
      for (const { rows } of pages.slice(0, -1)) expect(rows).toEqual([['   Read on'], ['   Not now']])
      const [first, ...more] = pages.map(({ title }) => title)
      expect(first?.[0]).toMatch(/^ The MCP server "docs" asks you to open/)
      for (const [n, page] of more.entries()) {
        expect(page[0]).toMatch(/^ The MCP server "docs" asks you/)
        expect(page.slice(0, 2).join('')).toContain(`(${n + 2} of ${pages.length})`)
      }
      // The whole of it has been seen.
      const seen = pages.flatMap(({ title }) => title.map((line) => line.trim())).join('')
      expect(
        seen.replaceAll(
          /The MCP server "docs" asks you to open an address in your ?browser: ?\(\d+ of \d+\)/g,
          '',
        ),
      ).toContain(url)
      const last = pages.at(-1)
      expect(seen).toContain('"docs" leads you to docs.example.com. Nothing')
      expect(last?.title.join()).toContain('! The connection is not encrypted')
      expect(last?.rows.flat()).toEqual([
        '   Not now',
        '   Open it in the browser',
        '   I open it myself',
        '   Decline',
      ])
    })

    it('a form of any length is seen as a whole, with what can be chosen', async () => {
      const message = Array.from({ length: 18 }, (_, n) => `line-${n} ${'x'.repeat(90)}`).join('\n')
      const long = { type: 'string', title: 'T'.repeat(100), description: 'D'.repeat(500) }
      const fields = {
        one: { ...long, default: 'd'.repeat(1_000) },
        two: { ...long, enum: Array.from({ length: 30 }, (_, n) => `${n} ${'v'.repeat(95)}`) },
        ...Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [n, { type: 'string', title: 'T'.repeat(100) }]),
        ),
      }
      for (const [width, low] of [
        [80, 24],
        [50, 24],
      ] as const) {
        const dialogs = await read(form(fields, [], message), width, low)
        const titles = dialogs.map(({ title }) => title.join('\n'))
        for (let n = 0; n < 18; n++)
          expect(titles.filter((title) => title.split(/\s/).includes(`line-${n}`))).toHaveLength(1)
        // Decided on where it stands whose question it is.
        expect(titles.find((title) => title.includes('What you answer goes to "docs"'))).toBeDefined()
        expect(dialogs.at(-1)?.rows.flat()[0]).toBe('   Send')
      }
    })
  })
})

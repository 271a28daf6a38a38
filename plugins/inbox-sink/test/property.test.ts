import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Inbox, InboxEntry } from '../src/index.ts'
import { createPlace, finding } from './place.ts'

const words = fc.string({ unit: 'binary', maxLength: 12 })
const fields = fc.record(
  {
    id: fc.oneof(fc.constantFrom('inb-1', 'inb-2', 'inb-3'), words, fc.integer()),
    text: fc.oneof(words, fc.constant(null)),
    status: fc.constantFrom('new', 'new', 'claimed', 'dismissed', 'archived', 7),
    kind: fc.constantFrom('news', 'checkpoint', 3),
    run_id: words,
    traceId: words,
    cwd: fc.oneof(words, fc.boolean()),
    createdAt: words,
    verified: fc.anything(),
    ['__proto__']: fc.constantFrom(1, { status: 'new' }),
    further: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const line = fc.oneof(
  { weight: 4, arbitrary: fields.map((entry) => JSON.stringify(entry)) },
  words.map((text) => text.replaceAll('\n', ' ')),
  fc.json().map((text) => text.slice(0, -1)),
)
const step = fc.record({
  do: fc.constantFrom('add', 'claim', 'dismiss', 'revise', 'clear'),
  at: fc.nat(9),
  text: fc.string({ unit: 'binary', maxLength: 700 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Answers whether something was done. */
async function perform(inbox: Inbox, { do: what, text }: Step, id: string): Promise<boolean> {
  switch (what) {
    case 'add':
      return inbox.add(finding(text))
    case 'claim':
      return (await inbox.claim(id)).done
    case 'dismiss':
      return (await inbox.dismiss(id, text)).done
    case 'revise':
      return inbox.revise(id, text)
    default:
      return (await inbox.dismissAll([id])).length > 0
  }
}

describe('whatever stands in the file and whatever is done', () => {
  it('changes no line but those that are meant, and no status back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.array(step, { maxLength: 5 }),
        async (lines, steps) => {
          const { open, write, path } = createPlace()
          write(lines.map((text) => `${text}\n`).join(''))
          const [inbox, other] = [open(), open()]
          for (const action of steps) {
            const before = { entries: inbox.entries(), lines: readFileSync(path, 'utf8').split('\n') }
            const { id = 'inb-none' } = before.entries[action.at] ?? {}
            const isMeant = (entry: InboxEntry): boolean =>
              action.do !== 'add' && entry.id === id && entry.status === 'new'
            const done = await perform(other, action, id)
            expect(done).toBe(action.do === 'add' || before.entries.some(isMeant))

            const after = { entries: inbox.entries(), lines: readFileSync(path, 'utf8').split('\n') }
            const added = action.do === 'add' ? 1 : 0
            expect(after.entries).toEqual(open().entries())
            expect(after.entries).toHaveLength(before.entries.length + added)
            expect(after.lines).toHaveLength(before.lines.length + added)
            const others = before.entries.flatMap((entry, index) => (isMeant(entry) ? [] : [index]))
            expect(others.map((index) => after.entries[index])).toEqual(
              others.map((index) => before.entries[index]),
            )
            const changed = before.lines.slice(0, -1).filter((text, index) => text !== after.lines[index])
            expect(changed.length).toBeLessThanOrEqual(before.entries.filter(isMeant).length)
            expect(changed.filter((text) => JSON.parse(text).id !== id)).toEqual([])
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  it('loses no byte of what was there', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.tuple(fc.array(line), fc.nat()).map(([lines, at]) => {
        const whole = Buffer.from(lines.join('\n'))
        return whole.subarray(0, whole.length - (at % 5))
      }),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        const { open, write, path, paths } = createPlace()
        write(content)
        const inbox = open()
        await inbox.add(finding('one'))
        const now = readFileSync(path)
        expect(now.subarray(0, content.length)).toEqual(Buffer.from(content))
        const own = inbox.entries().at(-1)!
        expect(own.text).toBe('one')
        expect(await inbox.claim(own.id)).toMatchObject({ done: true })
        const kept = readdirSync(paths.loopsDir)
          .map((name) => readFileSync(join(paths.loopsDir, name)))
          .some((file) => file.subarray(0, content.length).equals(content))
        expect(kept).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  it('writes texts that no terminal and no reader of lines stumbles over', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 1_200 }), async (text) => {
        const { open, lines } = createPlace()
        await open().add(finding(text, { source: text }))
        const [only = '', ...more] = lines()
        expect(more).toEqual([])
        const written = JSON.parse(only) as InboxEntry
        for (const [shown, limit] of [
          [written.text, 500],
          [written.source, 80],
        ] as const) {
          expect(Array.from(shown).length).toBeLessThanOrEqual(limit)
          expect(shown.isWellFormed()).toBe(true)
          expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u)
        }
      }),
      { numRuns: 150 },
    )
  })
})

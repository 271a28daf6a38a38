import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describePrompt, listPrompts, usageOf } from '../src/index.ts'
import { promptOf, refusal, scripted } from './support.ts'

const one = (result: unknown) => listPrompts(scripted(() => result))

describe('a list of prompts', () => {
  it('is not asked for where the server offers none', async () => {
    for (const capabilities of [{}, { tools: {} }]) {
      const server = scripted(() => ({ prompts: [{ name: 'a' }] }), capabilities)
      expect(await listPrompts(server)).toEqual({ prompts: [], problems: [] })
      expect(server.asked).toEqual([])
    }
  })

  it('is every page of it, with what is read of a prompt and nothing else', async () => {
    const pages: Record<string, unknown> = {
      '': {
        prompts: [
          {
            name: 'a',
            title: 'A',
            description: 'One',
            icons: [],
            _meta: {},
            arguments: [
              { name: 'x', description: 'An x', required: true, title: 'X' },
              { name: 'y', required: 'yes' },
              { name: 'x' },
              { name: '' },
              null,
            ],
          },
        ],
        nextCursor: '2',
      },
      2: { prompts: [{ name: 'b', arguments: 'none', title: 1 }], nextCursor: null },
    }
    const server = scripted((_method, params) => pages[(params?.['cursor'] as string) ?? ''])
    expect(await listPrompts(server)).toEqual({
      prompts: [
        {
          name: 'a',
          title: 'A',
          description: 'One',
          arguments: [
            { name: 'x', description: 'An x', required: true },
            { name: 'y', required: false },
          ],
        },
        { name: 'b', arguments: [] },
      ],
      problems: [],
    })
    expect(server.asked).toEqual([
      ['prompts/list', undefined],
      ['prompts/list', { cursor: '2' }],
    ])
  })

  it.each([
    [
      'an endless list',
      ((page) => () => ({ prompts: [], nextCursor: `${(page += 1)}` }))(0),
      'prompts/list has more than 64 pages; the rest was left out.',
    ],
    [
      'a cursor that comes twice',
      () => ({ prompts: [], nextCursor: 'again' }),
      'prompts/list repeats its cursor; what was listed until then counts.',
    ],
    [
      'a cursor that is none',
      () => ({ prompts: [], nextCursor: 7 }),
      'prompts/list repeats its cursor; what was listed until then counts.',
    ],
    [
      'a list without measure',
      () => ({ prompts: Array.from({ length: 1_001 }, (_, index) => ({ name: `p${index}` })) }),
      'prompts/list has more than 1000 prompts; the rest was left out.',
    ],
    [
      'prompts without measure',
      () => ({
        prompts: Array.from({ length: 1_000 }, (_, index) => ({
          name: `p${index}`,
          description: 'x'.repeat(5_000),
        })),
      }),
      'prompts/list has more than 4000000 characters; the rest was left out.',
    ],
    [
      'a name twice',
      () => ({ prompts: [{ name: 'a\u001b[31m' }, { name: 'a\u001b[31m' }] }),
      'Prompt "a" is listed twice; the first one counts.',
    ],
    [
      'an entry without a name',
      () => ({ prompts: [{ title: 'nameless' }] }),
      'Entry 1 on page 1 of prompts/list has no usable name and was left out.',
    ],
  ])('ends and says so: %s', async (_what, answer, problem) => {
    const { problems } = await listPrompts(scripted(answer))
    expect(problems).toEqual([problem])
  })

  it('says only so much', async () => {
    const { problems } = await one({ prompts: Array.from({ length: 500 }, () => null) })
    expect(problems).toHaveLength(21)
    expect(problems.at(-1)).toBe('There is more of this kind.')
  })

  it('rejects with what a page rejects with, and where the answer is no list', async () => {
    const error = refusal('gone', -32_000)
    await expect(
      listPrompts(
        scripted(() => {
          throw error
        }),
      ),
    ).rejects.toBe(error)
    for (const result of [undefined, null, 7, [], {}, { prompts: {} }])
      await expect(one(result)).rejects.toThrow('The server’s answer to prompts/list is no list of prompts.')
  })

  it('takes whatever a server lists', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), foreign)), async (prompts) => {
        const listing = await one({ prompts })
        const names = listing.prompts.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const prompt of listing.prompts) {
          expect(
            prompt.arguments.every(({ name, required }) => name !== '' && typeof required === 'boolean'),
          ).toBe(true)
          const line = describePrompt('srv', prompt)
          expect(Array.from(line).length).toBeLessThanOrEqual(200)
          expect(line).toMatch(/^[^\p{Cc}\u202A-\u202E\u2066-\u2069]+$/u)
        }
      }),
    )
  })
})

const foreign = fc.record(
  {
    name: fc.string({ unit: 'binary' }),
    description: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
    arguments: fc.oneof(
      fc.array(fc.record({ name: fc.string({ unit: 'binary' }), required: fc.jsonValue() })),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: ['name'] },
)

describe('what is said of a prompt', () => {
  it('is its arguments, and what the server says in one line', () => {
    const prompt = { ...promptOf('file', 'style?'), description: 'Reviews\n\ta \u001b[1mfile\u202e.' }
    expect(usageOf(prompt)).toBe('<file> [style]')
    expect(describePrompt('srv', prompt)).toBe('<file> [style] — Reviews a file .')
    expect(describePrompt('srv', { ...promptOf(), title: 'A title' })).toBe('A title')
    expect(describePrompt('srv', promptOf())).toBe('Prompt of MCP server "srv"')
    const many = promptOf(...Array.from({ length: 20 }, (_, index) => `a${index}?`))
    expect(usageOf(many)).toBe('[a0] [a1] [a2] [a3] [a4] [a5] [a6] [a7] …')
  })
})

import type { ServerTool } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listAllTools } from '../src/index.ts'

/** A session that answers these pages, whatever they hold. */
function pages(...all: { readonly tools: readonly unknown[]; readonly nextCursor?: unknown }[]) {
  const asked: (string | undefined)[] = []
  return {
    asked,
    listTools: async (cursor?: string) => {
      asked.push(cursor)
      const page = all[Math.min(asked.length, all.length) - 1]
      return page as { readonly tools: readonly ServerTool[]; readonly nextCursor?: string }
    },
  }
}
const tool = (name: unknown, rest: object = {}) => ({ name, inputSchema: { type: 'object' }, ...rest })

describe('listAllTools', () => {
  it('follows the cursor to the last page', async () => {
    const session = pages(
      { tools: [tool('a')], nextCursor: '2' },
      { tools: [tool('b')], nextCursor: '3' },
      { tools: [tool('c')] },
    )
    const { tools, problems } = await listAllTools(session)
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(problems).toEqual([])
    expect(session.asked).toEqual([undefined, '2', '3'])
  })

  it.each([null, '', undefined])('takes %j for the end', async (nextCursor) => {
    const session = pages({ tools: [tool('a')], nextCursor })
    expect(await listAllTools(session)).toMatchObject({ tools: [{ name: 'a' }], problems: [] })
    expect(session.asked).toHaveLength(1)
  })

  it('ends at a cursor that comes again', async () => {
    const session = pages({ tools: [tool('a')], nextCursor: 'x' }, { tools: [tool('b')], nextCursor: 'x' })
    const { tools, problems } = await listAllTools(session)
    expect(tools).toHaveLength(2)
    expect(problems).toEqual([expect.stringContaining('repeats its cursor')])
  })

  it('ends at its bounds, and says so', async () => {
    let page = 0
    const endless = {
      listTools: async () => ({ tools: [tool(`t${(page += 1)}`) as ServerTool], nextCursor: `${page}` }),
    }
    const many = await listAllTools(endless, { maxPages: 3 })
    expect(many.tools).toHaveLength(3)
    expect(many.problems).toEqual([expect.stringContaining('more than 3 pages')])
    const session = pages({ tools: [tool('a'), tool('b'), tool('c')] })
    const few = await listAllTools(session, { maxTools: 2 })
    expect(few.tools).toHaveLength(2)
    expect(few.problems).toEqual([expect.stringContaining('more than 2 tools')])
  })

  it('leaves out what is no tool, and what comes twice', async () => {
    const session = pages({
      tools: [tool('a', { description: 'first' }), tool(7), 'x', null, tool(''), tool('a'), tool('b')],
    })
    const { tools, problems } = await listAllTools(session)
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'first'],
      ['b', undefined],
    ])
    expect(problems).toEqual([
      'Entry 2 on page 1 of tools/list has no usable name and was left out.',
      'Entry 3 on page 1 of tools/list has no usable name and was left out.',
      'Entry 4 on page 1 of tools/list has no usable name and was left out.',
      'Entry 5 on page 1 of tools/list has no usable name and was left out.',
      'Tool "a" is listed twice; the first one counts.',
    ])
  })

  it('keeps the fields that have the right type', async () => {
    const session = pages({
      tools: [
        tool('a', {
          title: 1,
          description: {},
          annotations: [],
          outputSchema: null,
          icons: ['x'],
          _meta: {},
        }),
      ],
    })
    expect((await listAllTools(session)).tools).toEqual([{ name: 'a', inputSchema: { type: 'object' } }])
  })

  it('rejects when a page cannot be had', async () => {
    await expect(listAllTools({ listTools: () => Promise.reject(new Error('gone')) })).rejects.toThrow('gone')
  })

  it('survives whatever a server sends', async () => {
    const page = fc.record(
      { tools: fc.array(fc.jsonValue()), nextCursor: fc.jsonValue() },
      { requiredKeys: ['tools'] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 4 }), async (all) => {
        const { tools, problems } = await listAllTools(pages(...all), { maxPages: 8 })
        expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
        expect(problems.length).toBeLessThanOrEqual(21)
      }),
    )
  })
})

import { commandsOf, type PromptCommand } from '@tapline/prompts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completePrompts, matching } from '../../../src/session/prompts/autocomplete.ts'

const commands: readonly PromptCommand[] = [
  ...commandsOf('fix', [
    { name: 'review', arguments: [{ name: 'file', required: true }], description: 'Reviews.' },
    { name: 'preview', arguments: [] },
  ]),
  ...commandsOf('docs', [{ name: 'fixes', arguments: [] }]),
]
const names = (typed: string) => matching(commands, typed).map(({ name }) => name)

/** The provider over one that knows some commands of pi and one of ours that is gone. */
function provider(values: readonly string[] = ['model', 'mcp', 'mcp:fix:gone'], offered = commands) {
  const asked: string[] = []
  const completed: [string, string][] = []
  const made = completePrompts({
    commands: () => offered,
    isOwn: (name) => name.startsWith('mcp:fix:') || name.startsWith('mcp:docs:'),
    complete: async (name, typed) => {
      completed.push([name, typed])
      return typed === 'x' ? [{ value: 'x.ts', label: 'x.ts' }] : []
    },
  })({
    getSuggestions: async ([line = '']) => {
      asked.push(line)
      const items = values
        .filter((value) => value.startsWith(line.slice(1)))
        .map((value) => ({ value, label: value }))
      return items.length === 0 ? null : { items, prefix: line }
    },
    applyCompletion: (lines, cursorLine, cursorCol) => ({ lines, cursorLine, cursorCol }),
  })
  const suggest = async (text: string, line = 0) => {
    const lines = [...Array.from({ length: line }, () => ''), text]
    const found = await made.getSuggestions(lines, line, text.length, {
      signal: new AbortController().signal,
    })
    return found && { prefix: found.prefix, values: found.items.map(({ value }) => value) }
  }
  return { made, asked, completed, suggest }
}

describe('the menu of the terminal', () => {
  it('has the prompts behind what pi has, and none that is gone', async () => {
    const { suggest } = provider()
    expect(await suggest('/')).toEqual({
      prefix: '/',
      values: ['model', 'mcp', 'mcp:fix:preview', 'mcp:fix:review', 'mcp:docs:fixes'],
    })
    expect(await suggest('/mcp:fix:g')).toBeNull()
    expect(await suggest('  /review')).toEqual({
      prefix: '/review',
      values: ['mcp:fix:review', 'mcp:fix:preview'],
    })
    expect(await suggest('/zzz')).toBeNull()
  })

  it('has the likeliest of thousands, and not all of them', async () => {
    const prompts = Array.from({ length: 1_000 }, (_, n) => ({ name: `p${n}`, arguments: [] }))
    const { values = [] } = (await provider([], commandsOf('many', prompts)).suggest('/p99')) ?? {}
    expect(values.slice(0, 2)).toEqual(['mcp:many:p99', 'mcp:many:p990'])
    expect((await provider([], commandsOf('many', prompts)).suggest('/'))?.values).toHaveLength(200)
  })

  it('says what they are', async () => {
    const { made } = provider()
    const found = await made.getSuggestions(['/review'], 0, 7, { signal: new AbortController().signal })
    expect(found?.items[0]).toEqual({
      value: 'mcp:fix:review',
      label: 'mcp:fix:review',
      description: '<file> — Reviews.',
    })
  })

  it('completes arguments of ours, and asks pi where there is nothing', async () => {
    const { suggest, asked, completed } = provider()
    expect(await suggest('/mcp:fix:review x')).toEqual({ prefix: 'x', values: ['x.ts'] })
    expect(asked).toEqual([])
    expect(await suggest('/mcp:fix:review y')).toBeNull()
    expect(await suggest('/model x')).toBeNull()
    expect(asked).toEqual(['/mcp:fix:review y', '/model x'])
    expect(completed).toEqual([
      ['mcp:fix:review', 'x'],
      ['mcp:fix:review', 'y'],
    ])
  })

  it('leaves everything else to pi', async () => {
    const { suggest, asked, completed, made } = provider()
    await suggest('see /mcp:fix:review x')
    await suggest('/mcp', 1)
    expect(completed).toEqual([])
    expect(asked).toHaveLength(2)
    expect(made.shouldTriggerFileCompletion?.([''], 0, 0)).toBe(true)
    expect(made.applyCompletion(['a'], 0, 1, { value: 'b', label: 'b' }, 'a').lines).toEqual(['a'])
  })
})

describe('what somebody may mean', () => {
  it.each([
    ['', ['mcp:fix:preview', 'mcp:fix:review', 'mcp:docs:fixes']],
    ['mcp:fix', ['mcp:fix:preview', 'mcp:fix:review', 'mcp:docs:fixes']],
    ['fix', ['mcp:docs:fixes', 'mcp:fix:preview', 'mcp:fix:review']],
    ['REV', ['mcp:fix:review', 'mcp:fix:preview']],
    ['mfr', ['mcp:fix:preview', 'mcp:fix:review']],
    ['mcp:fix:review:', []],
  ])('%j', (typed, expected) => {
    expect(names(typed)).toEqual(expected)
  })

  it('is a command that holds every character, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        for (const name of names(typed))
          for (const character of typed.toLowerCase()) expect(name).toContain(character)
      }),
    )
  })
})

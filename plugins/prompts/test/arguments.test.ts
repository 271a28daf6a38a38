import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted, readArguments, typedArgument } from '../src/index.ts'
import { promptOf } from './support.ts'

const read = (names: readonly string[], text: string) => {
  const { values, missing, surplus } = readArguments(promptOf(...names), text)
  return {
    ...Object.fromEntries(values),
    ...(missing.length > 0 ? { MISSING: missing.map(({ name }) => name) } : {}),
    ...(surplus === undefined ? {} : { SURPLUS: surplus }),
  }
}

describe('arguments', () => {
  it.each<[string, string[], string, object]>([
    ['in order', ['file', 'style'], 'main.ts brief', { file: 'main.ts', style: 'brief' }],
    ['a single one takes all', ['text'], 'fix the "weird" bug', { text: 'fix the "weird" bug' }],
    [
      'the last one takes the rest',
      ['file', 'task'],
      'a.ts fix  it\nall ',
      { file: 'a.ts', task: 'fix  it\nall' },
    ],
    ['double quotes', ['a', 'b'], '"one two" three', { a: 'one two', b: 'three' }],
    ['single quotes', ['a', 'b'], `'one "two"' '3 4'`, { a: 'one "two"', b: '3 4' }],
    [
      'escapes in double quotes',
      ['a'],
      String.raw`"say \"hi\" to C:\new\\"`,
      { a: String.raw`say "hi" to C:\new` + '\\' },
    ],
    ['an apostrophe is a letter', ['a', 'b'], `don't it's fine`, { a: "don't", b: "it's fine" }],
    ['a quote that nothing closes', ['a', 'b'], `"one two`, { a: '"one', b: 'two' }],
    ['a quote inside of a word', ['a', 'b'], `x"y z" w`, { a: 'x"y', b: 'z" w' }],
    ['by name', ['a', 'b'], 'b=2 a=1', { a: '1', b: '2' }],
    ['by name with dashes', ['a', 'b'], '--b=2 --a="1 1"', { a: '1 1', b: '2' }],
    [
      'a name first, then text',
      ['task', 'style?'],
      'style=brief fix the bug',
      { style: 'brief', task: 'fix the bug' },
    ],
    [
      'text first, then a name',
      ['task', 'style?'],
      'fix the bug style=brief',
      { style: 'brief', task: 'fix the bug' },
    ],
    [
      'a name in between',
      ['task', 'style?'],
      'fix the style=brief bug',
      { style: 'brief', task: 'fix the bug' },
    ],
    ['a name that is none', ['a', 'b'], 'c=1 x', { a: 'c=1', b: 'x' }],
    ['a name twice', ['a', 'b'], 'a=1 a=2', { a: '1', b: 'a=2' }],
    ['names in the text of a single one', ['sql'], 'select where sql=1', { sql: 'select where sql=1' }],
    ['a single one by name', ['sql'], 'sql="select 1"', { sql: 'select 1' }],
    ['the longer name', ['a', 'a=b'], 'a=b=c', { 'a=b': 'c', MISSING: ['a'] }],
    ['names with spaces', ['my file', 'x'], 'my file="a b" c', { 'my file': 'a b', x: 'c' }],
    ['empty ones', ['a', 'b'], 'a= ""', { a: '', b: '' }],
    ['required ones that are missing', ['a', 'b?', 'c'], '', { MISSING: ['a', 'c'] }],
    ['nothing left for a text', ['a'], 'a=1 and more', { a: '1', SURPLUS: 'and more' }],
    ['no arguments at all', [], 'and "more"', { SURPLUS: 'and "more"' }],
    ['a name that no object has', ['__proto__', 'b'], '__proto__=1 2', { ['__proto__']: '1', b: '2' }],
  ])('%s', (_what, names, text, expected) => {
    expect(read(names, text)).toEqual(expected)
  })

  const unit = fc.constantFrom('a', 'b', '=', '-', ' ', '\n', '"', "'", '\\', 'é')
  const text = fc.string({ unit, maxLength: 40 })
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'ab', 'a b', 'a=', 'é'), { maxLength: 4 })

  it('lose nothing: every word is in a value, or said to be too much', () => {
    fc.assert(
      fc.property(names, text, (list, typed) => {
        const { values, surplus = '' } = readArguments(promptOf(...list), typed)
        const kept = [...values.values(), surplus].join('').replace(/[\s"'\\]/g, '')
        const named = [...values.keys()].join('')
        expect(typed.replace(/[\s"'\\]/g, '').length).toBeLessThanOrEqual(
          kept.length + named.length + list.length * 3,
        )
        expect(surplus === '' || list.length === values.size).toBe(true)
      }),
    )
  })

  it('are read as they were completed, whatever stands before them', () => {
    fc.assert(
      fc.property(names, text, fc.oneof(text, fc.string()), (list, typed, value) => {
        const prompt = promptOf(...list)
        const found = typedArgument(prompt, typed)
        fc.pre(found !== undefined)
        expect(typed.startsWith(found.before)).toBe(true)
        const { values } = readArguments(prompt, found.before + quoted(prompt, value))
        expect(values.get(found.argument)).toBe(value)
        for (const [name, earlier] of found.given) expect(values.get(name)).toBe(earlier)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [['a=', 'a'], 'a=', '='],
    [['a=b', 'a'], 'a=', 'b=c'],
    [['a=', 'a'], '', 'a=1'],
  ])('are read as they were completed, also where names of %j look like values', (list, typed, value) => {
    const prompt = promptOf(...list)
    const found = typedArgument(prompt, typed)!
    const { values } = readArguments(prompt, found.before + quoted(prompt, value))
    expect(values.get(found.argument)).toBe(value)
  })

  it('are read in time, whatever was pasted', () => {
    for (const piece of [`"a `, `'a `, `" `, `\\" `, 'a=', '--a=', `'"`]) {
      const pasted = piece.repeat(20_000)
      const from = performance.now()
      readArguments(promptOf('a', 'b', 'c'), pasted)
      typedArgument(promptOf('a', 'b', 'c'), pasted)
      expect(performance.now() - from).toBeLessThan(1_000)
    }
  })
})

describe('the argument that is being typed', () => {
  const typed = (list: readonly string[], text: string) => {
    const found = typedArgument(promptOf(...list), text)
    return found && [found.argument, found.value, found.before, Object.fromEntries(found.given)]
  }
  it.each<[string, string[], string, unknown]>([
    ['nothing yet', ['a', 'b'], '', ['a', '', '', {}]],
    ['the first', ['a', 'b'], 'x', ['a', 'x', '', {}]],
    ['the second, not begun', ['a', 'b'], 'x ', ['b', '', 'x ', { a: 'x' }]],
    ['the second', ['a', 'b'], 'x y', ['b', 'y', 'x ', { a: 'x' }]],
    ['the rest', ['a', 'b'], 'x y z', ['b', 'y z', 'x ', { a: 'x' }]],
    ['the rest, not at an end', ['a'], 'x ', ['a', 'x ', '', {}]],
    ['a named one', ['a', 'b'], 'b=x', ['b', 'x', 'b=', {}]],
    ['a named one, not begun', ['a', 'b'], 'x --b=', ['b', '', 'x --b=', { a: 'x' }]],
    ['what a name leaves', ['a', 'b'], 'b=2 x', ['a', 'x', 'b=2 ', { b: '2' }]],
    ['in quotes', ['a', 'b'], 'x "y z', ['b', 'y z', 'x ', { a: 'x' }]],
    ['named in quotes', ['a', 'b'], 'a="y z', ['a', 'y z', 'a=', {}]],
    ['none is left', ['a', 'b'], 'a=1 b=2 ', undefined],
    ['there are none', [], 'x', undefined],
    ['a rest with a name in it', ['a', 'b'], 'x b=1 y', undefined],
  ])('%s', (_what, list, text, expected) => {
    expect(typed(list, text)).toEqual(expected)
  })
})

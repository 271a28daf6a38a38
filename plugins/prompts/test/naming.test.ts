import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandsOf, splitCommand } from '../src/index.ts'

const named = (names: readonly string[]) =>
  commandsOf(
    'srv',
    names.map((name) => ({ name, arguments: [] })),
  )
const given = (names: readonly string[]) =>
  Object.fromEntries(named(names).map(({ name, prompt }) => [prompt.name, name]))

describe('names of commands', () => {
  it.each([
    ['review', 'mcp:srv:review'],
    ['review_code.v2-x:y', 'mcp:srv:review_code.v2-x:y'],
    ['Review this code!', 'mcp:srv:Review_this_code_'],
    ['a/b\\c', 'mcp:srv:a_b_c'],
    ['_private__x', 'mcp:srv:_private__x'],
    ['überprüfen', 'mcp:srv:überprüfen'],
    ['检查', 'mcp:srv:检查'],
    ['\u001b[31mred\u202e', 'mcp:srv:_31mred_'],
    ['\u3164', 'mcp:srv:_'],
    ['\ud800', 'mcp:srv:_'],
    ['x'.repeat(100), `mcp:srv:${'x'.repeat(64)}`],
  ])('%j → %s', (name, command) => {
    expect(given([name])).toEqual({ [name]: command })
  })

  it('go to whom they belong, then by number in the order of the prompts’ own names', () => {
    expect(given(['a b', 'a/b', 'a_b', 'a_b-2'])).toEqual({
      a_b: 'mcp:srv:a_b',
      'a_b-2': 'mcp:srv:a_b-2',
      'a b': 'mcp:srv:a_b-3',
      'a/b': 'mcp:srv:a_b-4',
    })
  })

  it('are different, can be typed, lead back, and do not depend on the order of the list', () => {
    const unit = fc.constantFrom('a', 'b', ' ', '/', '_', '-', '2', 'é', '\u0000', '\u202e', '😀')
    const name = fc.oneof(fc.string({ unit, maxLength: 5 }), fc.string({ unit: 'binary' })).filter(Boolean)
    const names = fc.uniqueArray(name, { maxLength: 12 })
    fc.assert(
      fc.property(
        names.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          const commands = named(list)
          expect(new Set(commands.map(({ name }) => name)).size).toBe(list.length)
          for (const { name } of commands) {
            expect(name).toMatch(/^mcp:srv:[\p{L}\p{M}\p{N}_.:-]+$/u)
            expect(splitCommand(name)).toEqual({ server: 'srv', prompt: name.slice('mcp:srv:'.length) })
          }
          expect(named(shuffled)).toEqual(commands)
        },
      ),
    )
  })

  it('say which server is meant', () => {
    expect(splitCommand('mcp:my-server:a:b')).toEqual({ server: 'my-server', prompt: 'a:b' })
    for (const name of [
      'mcp',
      'mcp:',
      'mcp:srv',
      'mcp:srv:',
      'mcp::a',
      'mcp:a/b:c',
      'mcp:a:b c',
      'skill:a:b',
    ])
      expect(splitCommand(name)).toBeUndefined()
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesPattern, policyFor, type PushPolicies } from '../../src/index.ts'

const TOOLS = 'notifications/tools/list_changed'
const TOOLS_TOO = 'notifications/tools/listChanged'
const BUILD = 'notifications/build'

describe('the policy of a method', () => {
  it.each<[string, PushPolicies, string, string]>([
    ['its own entry', { [BUILD]: 'run', '*': 'log', default: 'inbox' }, BUILD, 'run'],
    ['its own entry, wherever it stands', { '*': 'log', [BUILD]: 'run' }, BUILD, 'run'],
    [
      'the first pattern that matches',
      { 'other/*': 'run', '*build': 'summary', 'notifications/*': 'log' },
      BUILD,
      'summary',
    ],
    ['the default', { 'other/*': 'run', default: 'inbox' }, BUILD, 'inbox'],
    ['a pattern before the default', { default: 'inbox', '*': 'log' }, BUILD, 'log'],
    ['the name of any sink', { [BUILD]: 'pager' }, BUILD, 'pager'],
    ['the entry of the other spelling', { [TOOLS_TOO]: 'run' }, TOOLS, 'run'],
    ['the entry of the protocol’s spelling', { [TOOLS]: 'run' }, TOOLS_TOO, 'run'],
    ['its own spelling first', { [TOOLS_TOO]: 'run', [TOOLS]: 'log' }, TOOLS, 'log'],
    ['a pattern in the other spelling', { 'notifications/*/listChanged': 'run' }, TOOLS, 'run'],
    ['a pattern in the protocol’s spelling', { '*list_changed': 'run' }, TOOLS_TOO, 'run'],
    ['nothing of a longer method', { [`${BUILD}s`]: 'run', default: 'log' }, BUILD, 'log'],
    ['nothing inherited', { default: 'log' }, 'constructor', 'log'],
  ])('is %s', (_what, policies, method, policy) => {
    expect(policyFor(policies, method, () => true)).toBe(policy)
  })

  it('is rules where a rules sink is loaded, else log', () => {
    expect(policyFor({}, BUILD, (name) => name === 'rules')).toBe('rules')
    expect(policyFor({}, BUILD, (name) => name === 'inbox')).toBe('log')
    expect(policyFor({ other: 'run' }, TOOLS, () => false)).toBe('log')
  })
})

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['a*', 'abc', true],
    ['a*', 'ba', false],
    ['*c', 'abc', true],
    ['a*c', 'abc', true],
    ['a*c', 'ac', true],
    ['ab*bc', 'abc', false],
    ['a*b*c', 'axbxc', true],
    ['a*b*c', 'axcxb', false],
    ['a*bb*b', 'abb', false],
    ['a**c', 'abc', true],
    ['a.c*', 'abc', false],
    ['(a|b)*', '(a|b)', true],
    ['plain', 'plain', true],
    ['plain', 'plainer', false],
  ])('%s on %s: %s', (pattern, name, matches) => {
    expect(matchesPattern(pattern, name)).toBe(matches)
  })

  it('matches what the same regular expression does', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 }),
        letters,
        (pattern, name) => {
          expect(matchesPattern(pattern, name)).toBe(
            new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`).test(name),
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('costs what the two lengths add up to', () => {
    const pattern = `${'*a'.repeat(2_000)}*b`
    expect(matchesPattern(pattern, 'a'.repeat(100_000))).toBe(false)
  })
})

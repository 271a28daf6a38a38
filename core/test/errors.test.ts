import { isLasting, messageOf, ownAdvice, TaplineError } from '@tapline/core'
import { describe, expect, it } from 'vitest'

const errorWith = (code: ConstructorParameters<typeof TaplineError>[0], data = {}): TaplineError =>
  new TaplineError(code, 'no', { data })

describe('an error', () => {
  it('lasts when only a person can put it right', () => {
    for (const code of ['AUTH_FAILED', 'CONFIG_INVALID', 'NO_TRANSPORT'] as const) {
      expect([isLasting(errorWith(code)), isLasting(errorWith(code), true)]).toEqual([true, true])
    }
    for (const code of ['CONNECT_FAILED', 'CREDENTIAL_MISSING', 'CONNECTION_CLOSED'] as const)
      expect(isLasting(errorWith(code))).toBe(false)
  })

  it('lasts when whoever raised it says so, unless the same has worked before', () => {
    const missing = errorWith('CONNECT_FAILED', { lasting: true })
    expect([isLasting(missing), isLasting(missing, true)]).toEqual([true, false])
    expect(isLasting(errorWith('CONNECT_FAILED', { lasting: 'yes' }))).toBe(false)
  })

  it('has advice of its own where that is more than its code says', () => {
    expect(ownAdvice(errorWith('CONNECT_FAILED'))).toBeUndefined()
    expect(ownAdvice(new TaplineError('CONNECT_FAILED', 'no', { advice: 'Install it.' }))).toBe('Install it.')
  })

  it.each([
    [new Error('words'), 'words'],
    [new TypeError(''), 'TypeError'],
    ['a text', 'a text'],
    [3, '3'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [Object.create(null), 'what was thrown says nothing of itself'],
    [{ toString: 1 }, 'what was thrown says nothing of itself'],
  ])('has a message whatever was thrown: %o', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message)
  })
})

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUnusable, readPasted, readRedirect } from '../src/sign-in/redirected.ts'

const expected = { redirectUrl: 'http://127.0.0.1:4000/callback', state: 'the-state' }
const at = (query: string, path = '/callback'): URL => new URL(`http://127.0.0.1:4000${path}?${query}`)

test('an answer with the right state is read', () => {
  expect(readRedirect(at('code=a&state=the-state&iss=https%3A%2F%2Fas'), expected)).toEqual({
    code: 'a',
    iss: 'https://as',
  })
  expect(readRedirect(at('error=access_denied&error_description=no&state=the-state'), expected)).toEqual({
    error: 'access_denied',
    description: 'no',
  })
  // Both at once is a refusal.
  expect(readRedirect(at('code=a&error=b&state=the-state'), expected)).toEqual({ error: 'b' })
})

test.each([
  ['another state', 'code=a&state=other', 'foreign'],
  ['no state', 'code=a', 'foreign'],
  ['two states', 'code=a&state=the-state&state=the-state', 'foreign'],
  ['two codes', 'code=a&code=b&state=the-state', 'broken'],
  ['two issuers', 'code=a&iss=x&iss=y&state=the-state', 'broken'],
  ['neither code nor error', 'state=the-state', 'broken'],
  ['an empty code', 'code=&state=the-state', 'broken'],
])('an answer with %s is not used', (_what, query, fault) => {
  expect(readRedirect(at(query), expected)).toMatchObject({ fault })
})

test('an answer on another path is not used, even with the right state', () => {
  expect(readRedirect(at('code=a&state=the-state', '/callback/other'), expected)).toMatchObject({
    fault: 'broken',
  })
})

test.each(['', 'code-1', 'http://evil.example/callback?code=a&state=the-state', 'javascript:1'])(
  'a pasted %j is none of this sign-in',
  (text) => {
    expect(readPasted(text, expected)).toMatchObject({ fault: 'foreign' })
  },
)

test('a pasted address may have blanks around it', () => {
  expect(readPasted(`  ${at('code=a&state=the-state').href}\n`, expected)).toEqual({ code: 'a' })
})

/** Whether an address with these parameters may be read so. */
function isAllowed(query: URLSearchParams, answer: ReturnType<typeof readRedirect>): boolean {
  if (isUnusable(answer)) return /^[A-Z][\w ,.:/-]+\.$/.test(answer.problem)
  const states = query.getAll('state')
  if (states.length !== 1 || states[0] !== 'the-state') return false
  if (!('code' in answer)) return true
  const errors = query.getAll('error').filter((error) => error !== '')
  return errors.length === 0 && query.getAll('code').join() === answer.code
}

test('whatever an address holds, only the right state gives a code, and no problem quotes it', () => {
  const text = fc.string({ minLength: 1, maxLength: 20 })
  const parameter = fc.tuple(fc.constantFrom('code', 'state', 'error', 'iss', 'error_description', 'x'), text)
  fc.assert(
    fc.property(fc.array(parameter, { maxLength: 8 }), fc.boolean(), (pairs, right) => {
      const query = new URLSearchParams(pairs)
      if (right) query.set('state', 'the-state')
      expect(isAllowed(query, readRedirect(at(query.toString()), expected))).toBe(true)
    }),
  )
})

test('whatever is pasted, nothing but an address of this sign-in is used', () => {
  const pasted = fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true }))
  fc.assert(
    fc.property(pasted, (text) => {
      expect(isUnusable(readPasted(text, expected))).toBe(true)
    }),
  )
})

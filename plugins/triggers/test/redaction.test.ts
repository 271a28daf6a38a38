import { describe, expect, it } from 'vitest'
import { redact } from '../src/index.ts'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n/+=\n-----END RSA PRIVATE KEY-----'
const R = (kind: string): string => `[REDACTED:${kind}]`

describe('redaction', () => {
  it.each<[string, string, string]>([
    ['an OpenAI key', 'key sk-abcdefghijklmnopqrstuvwx.', `key ${R('api-key')}.`],
    ['an Anthropic key', 'sk-ant-api03-abc_DEF-123', R('api-key')],
    ['an AWS key', 'AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE', `${R('aws-key')} and ${R('aws-key')}`],
    ['an AWS key with something behind', 'AKIAIOSFODNN7EXAMPLEx', `${R('aws-key')}x`],
    [
      'GitHub tokens',
      'ghp_abcdefghij0123456789 gho_abcdefghij0123456789 ghs_abcdefghij0123456789',
      `${R('github-token')} ${R('github-token')} ${R('github-token')}`,
    ],
    ['a GitHub refresh token', 'ghr_abcdefghij0123456789', R('github-token')],
    ['a fine-grained GitHub token', 'github_pat_11ABCDEFG_abcdefghij', R('github-token')],
    ['Slack tokens', 'xoxb-123-456-abcdef xoxp-123-456-abcdef', `${R('slack-token')} ${R('slack-token')}`],
    ['a Google key', 'AIzaSyA-1234567890abcdefghijklmnopqrstu', R('google-key')],
    ['a bearer token', 'Bearer abc123', `Bearer ${R('bearer')}`],
    [
      'a bearer token in a header',
      'authorization: bearer   abc123, next',
      `authorization: bearer   ${R('bearer')}, next`,
    ],
    [
      'a bearer token in JSON',
      '{"Authorization":"Bearer abc123"}',
      `{"Authorization":"Bearer ${R('bearer')}"}`,
    ],
    ['a bearer member in JSON', '{"bearer": "abc123"}', `{"bearer": "${R('bearer')}"}`],
    [
      'a login address',
      'open https://id.example.com/oauth/authorize?client_id=1&state=abc now',
      `open ${R('login-url')} now`,
    ],
    ['a loopback callback', 'http://127.0.0.1:8123/callback?code=abc', R('callback-url')],
    ['a loopback callback by name', 'http://localhost/auth/callback#x', R('callback-url')],
    ['a JWT', `got ${JWT}!`, `got ${R('jwt')}!`],
    ['a JWT in a cookie', `session=${JWT}; x`, `session=${R('jwt')}; x`],
    [
      'credentials in an address',
      'postgres://user:pa55word@db.example.com/x',
      `postgres://${R('url-credentials')}@db.example.com/x`,
    ],
    [
      'credentials with an @ in an address',
      'https://user:p@ss@example.com/',
      `https://${R('url-credentials')}@example.com/`,
    ],
    [
      'a variable',
      'MY_TOKEN=abcd1234 DB_PASSWORD=hunter22 X_API_KEY=k1234567 A_SECRET=s1234567',
      `MY_TOKEN=${R('secret')} DB_PASSWORD=${R('secret')} X_API_KEY=${R('secret')} A_SECRET=${R('secret')}`,
    ],
    [
      'Stripe keys',
      'sk_live_abcdefgh12345 pk_test_abcdefgh12345 rk_live_abcdefgh12345',
      `${R('stripe-key')} ${R('stripe-key')} ${R('stripe-key')}`,
    ],
    ['a private key', `before ${PEM} after`, `before ${R('private-key')} after`],
    ['a private key that was cut off', 'x -----BEGIN PRIVATE KEY-----\nMIIE', `x ${R('private-key')}`],
    ['a pair', 'password: hunter22', `password: ${R('secret')}`],
    ['a pair in JSON', '{"apiKey": "abcdefgh", "n": 1}', `{"apiKey": "${R('secret')}", "n": 1}`],
    [
      'a pair in JSON whose value has blanks',
      '{"password": "my dear secret", "n": 1}',
      `{"password": "${R('secret')}", "n": 1}`,
    ],
    ['a pair with single quotes', "passwd='two words' x", `passwd='${R('secret')}' x`],
    [
      'a pair in JSON within JSON',
      String.raw`{"body":"{\"secret\":\"abcdefgh\"}"}`,
      String.raw`{"body":"{\"secret\":\"[REDACTED:secret]\"}"}`,
    ],
    ['basic credentials', 'Authorization: Basic dXNlcjpwYXNz', `Authorization: Basic ${R('secret')}`],
    ['a credential', 'credentials: abcdefgh', `credentials: ${R('secret')}`],
    [
      'an agent hub’s token',
      'hub_agent_abc hub_hs_abc hub_ep_abc',
      `${R('hub-token')} ${R('hub-token')} ${R('hub-token')}`,
    ],
    [
      'a token in an address',
      'https://h.example/x?access_token=abcdefgh&y=1',
      `https://h.example/x?access_token=${R('secret')}&y=1`,
    ],
  ])('hides %s', (_what, text, redacted) => {
    expect(redact(text)).toBe(redacted)
    // What has been redacted stays as it is.
    expect(redact(redacted)).toBe(redacted)
  })

  it.each([
    'the build of task-management-system is green',
    'tokenizer: 12 tests failed',
    'see https://example.com/login for more',
    'https://example.com:8080/a@b',
    'a monkey on a keyboard',
    'key: value',
    'mailto:someone@example.com',
    'ASIAN markets',
    '7 secrets of good naming',
    'password reset for 3 users',
    'a'.repeat(100_000),
  ])('leaves plain text alone: %.60s', (text) => {
    expect(redact(text)).toBe(text)
  })

  /** Each would take minutes if any pattern went back over what it has seen. Vitest's own timeout is the judge. */
  it.each<[string, string]>([
    ['eyJ', '-eyJ'],
    ['eyJ with a dot', 'eyJaaaaaa.'],
    ['word characters', 'a'],
    ['pairs', 'token'],
    ['pairs with equals', 'token='],
    ['names', 'a.b-'],
    ['quotes', '"token" : "'],
    ['addresses', 'https://'],
    ['logins', 'http://login/'],
    ['logins without a question', '/http://loginloginlogin'],
    ['credentials', 'a://b:c'],
    ['schemes', 'a+'],
    ['bearers', 'bearer '],
    ['bearer in a row', 'bearer'],
    ['begins', '-----BEGIN PRIVATE KEY-----'],
    ['half begins', '-----BEGIN '],
    ['callbacks', 'http://localhost/callback'],
    ['AWS keys', 'AKIA'],
    ['blanks', 'token' + ' '.repeat(1_000)],
    ['escapes', '\u001B['],
  ])('costs little for 100 kB of %s', (_what, unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length))
    expect(redact(text).length).toBeGreaterThan(0)
    expect(redact(`${text}!`).length).toBeGreaterThan(0)
  })
})

import { tmpdir } from 'node:os'
import type { ConnectRequest, PluginContext, Transport } from '@tapline/core'
import { describe, expect, test } from 'vitest'
import { stdio } from '../src/index.ts'
import { maskSecrets, secretsOf } from '../src/masking.ts'
import { asked } from './support.ts'

describe('the values that are secret', () => {
  test('of the entry: by name, or not plainly harmless', () => {
    const entry = {
      API_KEY: 'k-12345678',
      LOG_LEVEL: 'verbose-verbose',
      PIN_TOKEN: '1234',
      NODE_ENV: 'production',
      LANG: 'de_DE.UTF-8',
      CACHE: '/var/cache/server-2',
      PORT: '127.0.0.1:8080',
      HUB: 'https://hub.example:8080/',
      LICENCE: 'a1b2-c3d4',
    }
    expect(secretsOf({}, { ...entry, DB_PASSWORD: 'correcthorse' }, entry)).toEqual([
      'correcthorse',
      'k-12345678',
      'a1b2-c3d4',
    ])
  })

  test('of the taps: each value that the entry has not', () => {
    expect(secretsOf({}, { LEVEL: 'verbose', HUB: 'loud' }, { LEVEL: 'verbose', HUB: 'wordsalone' })).toEqual(
      ['wordsalone'],
    )
  })

  test('of the host: by name alone, and passwords in addresses', () => {
    const host = {
      GITHUB_TOKEN: 'g-12345678',
      PWD: '/home/some/where',
      GIT_AUTHOR_NAME: 'Somebody',
      SHORT_KEY: '1234567',
      OTHER: 'x-12345678-9',
      DATABASE_URL: 'postgres://me:p4ssword-1@db/x',
    }
    expect(secretsOf(host, {}, {})).toEqual(['g-12345678', 'p4ssword-1'])
  })

  test('of several lines: each of them, and as JSON', () => {
    const secrets = secretsOf({}, { PEM: 'first-line-1\nsecond-line-2' }, {})
    expect(maskSecrets('second-line-2\n"first-line-1\\nsecond-line-2"', secrets)).toBe('…\n"…"')
  })
})

test.each([
  ['Authorization: Bearer abc.def-123', 'Authorization: Bearer …'],
  ['sent bearer abcdefgh to it', 'sent bearer … to it'],
  ['key sk-proj-abcdefgh1234.', 'key ….'],
  ['ghp_abcdefghij0123456789, AKIAIOSFODNN7EXAMPLE', '…, …'],
  ['postgres://me:hunter2@db:5432/x', 'postgres://…@db:5432/x'],
  ['https://me:a@b@host/', 'https://…@host/'],
  ['OPENAI_API_KEY=abc', 'OPENAI_API_KEY=…'],
  ['url=x;TOKEN=abcd efg', 'url=x;TOKEN=… efg'],
  ['{"password": "two words \\" more", "n": 1}', '{"password": "…", "n": 1}'],
  ["  DB_PASSWORD: 'it is',", "  DB_PASSWORD: '…',"],
  ['"{\\"token\\":\\"a b\\",\\"n\\":1}"', '"{\\"token\\":\\"…\\",\\"n\\":1}"'],
  ['a=SECRET=xyz', 'a=SECRET=…'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE\n', '…'],
])('%s', (text, expected) => {
  expect(maskSecrets(text, [])).toBe(expected)
})

test.each([
  'OPENAI_API_KEY: missing',
  'Bearer authentication failed',
  'at parse (src/token.ts:12:5)',
  'tokenizer: loaded model x',
  'KeyError: "name"',
  'listening on http://localhost:8080/mcp',
  'PWD=/home/me',
])('%s: stays', (text) => {
  expect(maskSecrets(text, [])).toBe(text)
})

test.each(['key', 'token_', 'a.', 'a://', 'a:', 'bearer ', 'eyJ', '"token":', '\\"', 'token=\\', 'x:y@'])(
  'the cost is bounded: %s',
  (part) => {
    const begin = performance.now()
    maskSecrets(part.repeat(16_384 / part.length), [])
    expect(performance.now() - begin).toBeLessThan(250)
  },
)

test('a server that dumps its environment and exits', async () => {
  let tap: (request: ConnectRequest) => Transport | undefined = () => undefined
  const context = {
    hooks: { connect: { tap: (_: unknown, fn: typeof tap) => (tap = fn) } },
    host: {
      env: { PATH: process.env.PATH, NPM_TOKEN: 'inherited token value', ELSEWHERE: 'ghp_0123456789abcdef' },
    },
    log: { info: () => undefined, warn: () => undefined },
  }
  const dispose = await stdio().setup(context as unknown as PluginContext, {})
  const script = `
    const { NPM_TOKEN, GIVEN, PEM } = process.env
    console.error('environment:', process.env)
    console.error(JSON.stringify(process.env))
    for (const [name, value] of Object.entries(process.env)) console.error(name + '=' + value)
    console.error('bare', NPM_TOKEN, GIVEN, PEM)
    console.error('could not sign in with ' + GIVEN)
    process.exitCode = 3`
  const transport = tap({
    ...asked(),
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: ['-e', script],
      env: { LEVEL: 'verbose', URL: 'https://me:pass-in-url@host/', PEM: 'pem-line-one\npem-line-two' },
      inheritEnv: true,
    },
    env: { GIVEN: 'g1ven-by-keychain' },
    cwd: tmpdir(),
  } as unknown as ConnectRequest)!
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
  await transport.start()
  await closed
  const report = transport.report!() as { lastStderr: string; stderrTail: string; ending: string }
  expect(report).toMatchObject({
    lastStderr: 'could not sign in with …',
    ending: 'server exited with code 3',
  })
  expect(report.stderrTail).toContain('LEVEL=verbose')
  expect(report.stderrTail).toContain('NPM_TOKEN=…')
  for (const secret of ['inherited', 'g1ven', 'pem-line', 'pass-in-url', '0123456789'])
    expect(report.stderrTail).not.toContain(secret)
  await dispose?.()
})

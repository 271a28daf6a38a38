import { expect, it, onTestFinished } from 'vitest'
import {
  type ConnectRequest,
  createSession,
  type Frame,
  loadSdk,
  type ServerSpec,
  type TaplineError,
  type Transport,
} from '../../src/index.ts'
import { redactText } from '../../src/redaction.ts'
import { createMemoryPair } from '../../src/testing/index.ts'
import { serverSpec } from '../specs.ts'

const SECRETS = { header: 'Token zebra-crossing-9', env: 'correct horse battery', query: 'swordfish/42' }

/** A session with a legacy server that answers every request but the handshake with this error. */
function sessionWith(words: string, server: Partial<ServerSpec> = {}, transportFor?: () => unknown) {
  const errors: TaplineError[] = []
  const { client, server: end } = createMemoryPair()
  end.onmessage = ({ id, method }: Frame) => {
    if (id === undefined || id === null) return
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
    const answer =
      method === 'initialize'
        ? { result }
        : { error: { code: method === 'server/discover' ? -32601 : -32000, message: words } }
    void end.send({ jsonrpc: '2.0', id, ...answer })
  }
  void end.start()
  const session = createSession({
    server: serverSpec(server),
    cwd: '/nowhere',
    info: { name: 'test', version: '0' },
    sdk: loadSdk,
    transportFor: async (request: ConnectRequest) => {
      request.headers['x-key'] = SECRETS.header
      request.env.PHRASE = SECRETS.env
      if (transportFor) return transportFor() as Transport
      return Object.assign(client, {
        report: () => ({ ending: `ended by ${SECRETS.env}`, lastStderr: words }),
      })
    },
    onNotification: () => undefined,
    onCatalogueStale: () => undefined,
    onStatus: () => undefined,
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => session.close())
  return { session, errors, end }
}

const thrownBy = (work: Promise<unknown>): Promise<TaplineError> =>
  work.then(
    () => expect.unreachable(),
    (error: unknown) => error as TaplineError,
  )

it.each([
  ['a header', `refused ${SECRETS.header}`],
  ['a header without its scheme', 'refused zebra-crossing-9'],
  ['an environment value', `refused ${SECRETS.env} here`],
  ['a value of the address', `refused ${SECRETS.query}`],
  ['an encoded value of the address', 'refused swordfish%2F42'],
  ['a header at the cut', `${'x'.repeat(485)}${SECRETS.header}`],
])('does not show %s that the server echoes', async (_what, words) => {
  const { session } = sessionWith(words, {
    transport: { type: 'custom', name: 'm', config: { url: 'http://h/?t=swordfish%2F42' } },
  })
  const error = await thrownBy(session.callTool('t', {}))
  expect(error.code).toBe('PROTOCOL')
  expect(`${error.message}${String(error.stack)}`).not.toMatch(/zebra|horse|swordfish/)
  expect(error.message).toMatch(/\[REDACTED\]|\[REDACT.*…$/)
  expect(session.status.report.lastStderr).toContain('[REDACTED]')
})

it('shows neither secrets nor a next attempt when the only connection ends', async () => {
  const { session, errors, end } = sessionWith('no', {
    reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 },
  })
  await session.ready()
  await end.close()
  await expect.poll(() => errors.length).toBe(1)
  expect(errors[0]).toMatchObject({
    code: 'CONNECTION_CLOSED',
    message: 'ended by [REDACTED] (stderr: no)',
    advice: 'Look at the server’s own message, fix the entry, then try again.',
  })
})

it('does not show what a tap quotes when it fails', async () => {
  const { session } = sessionWith('no', {}, () => {
    throw new Error(`bad ${SECRETS.env}`)
  })
  const error = await thrownBy(session.ready())
  expect(error.message).toBe('bad [REDACTED]')
})

it.each([{}, 7])('says that %o is no transport', async (answer) => {
  const { session } = sessionWith('no', {}, () => answer)
  expect(await thrownBy(session.ready())).toMatchObject({
    code: 'NO_TRANSPORT',
    message: expect.stringContaining('is no transport'),
  })
})

it.each([
  ['Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['sent Bearer abcdef123', 'abcdef123'],
  ['key sk-abcdefgh1234', 'sk-abcdefgh1234'],
  ['https://user:hunter2@host/x', 'hunter2'],
  ['?token=abcdef&x=1', 'abcdef'],
  ['password=hunter2', 'hunter2'],
  ['{"api_key":"abcdef"}', 'abcdef'],
  ['ghp_abcdefghijklmnop', 'ghp_abc'],
])('redacts %s', (text, secret) => {
  expect(redactText(text)).not.toContain(secret)
  expect(redactText(text)).toContain('[REDACTED]')
})

it.each(['Unexpected token: expected a string', 'unknown tool "search"', 'a bearer token is needed'])(
  'leaves %s alone',
  (text) => expect(redactText(text)).toBe(text),
)

it('takes linear time', () => {
  const started = performance.now()
  for (const part of [
    'token',
    'authorization:',
    'a://',
    'bearer ',
    'eyJaaaaaa',
    '-----BEGIN PRIVATE KEY-----',
  ])
    redactText(part.repeat(8_000))
  expect(performance.now() - started).toBeLessThan(2_000)
})

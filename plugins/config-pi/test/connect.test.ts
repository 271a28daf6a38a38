import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerSpec } from '@tapline/core'
import { isTaplineError } from '@tapline/core'
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createPlace } from './place.ts'
import type { Place } from './place.ts'

const ENV = { ...process.env, TOKEN: 't0k', EMPTY: '', HOST: 'example.com', BAD: 'a\r\nb', SNOW: '☃' }

async function serverOf(place: Place, entry: unknown): Promise<ServerSpec> {
  const state = await place.read({ user: { mcpServers: { a: entry } } })
  expect(state.servers).toHaveLength(1)
  return state.servers[0]!
}

const header = (value: string) => ({ url: 'https://example.com/mcp', headers: { Authorization: value } })

/** As pi's resolver gives them, except where the comment says otherwise. */
test.each([
  ['plain', 'plain'],
  ['Bearer ${TOKEN}', 'Bearer t0k'],
  ['Bearer $TOKEN', 'Bearer t0k'],
  ['$TOKEN$TOKEN', 't0kt0k'],
  ['$$TOKEN', '$TOKEN'],
  ['$!x', '!x'],
  ['a$', 'a$'],
  ['a$ b', 'a$ b'],
  ['${TOKEN', '${TOKEN'],
  ['${not-a-name}', '${not-a-name}'],
  ['${a$TOKEN}', '${a$TOKEN}'],
  ['${}', '${}'],
  ['x !echo y', 'x !echo y'],
  // Beyond pi:
  ['${TOKEN:-other}', 't0k'],
  ['${NONE:-other}', 'other'],
  ['${EMPTY:-other}', 'other'],
  ['Bearer ${NONE:-}', 'Bearer '],
  ['${env:TOKEN}', 't0k'],
  ['${env:NONE:-a b}', 'a b'],
])('the header %j is sent as %j', async (value, sent) => {
  const place = createPlace()
  const request = await place.connect(await serverOf(place, header(value)), ENV)
  expect(request.headers).toEqual({ Authorization: sent })
  expect(request.transport).toMatchObject({ headers: { Authorization: sent } })
})

interface PiValues {
  resolveConfigValueUncached(config: string, env: Record<string, string>): string | undefined
}

test('values are filled in as pi fills them in', async () => {
  const pi = '../../../node_modules/@earendil-works/pi-coding-agent/dist/core/resolve-config-value.js'
  const { resolveConfigValueUncached } = (await import(new URL(pi, import.meta.url).href)) as PiValues
  const place = createPlace()
  const text = fc
    .array(fc.constantFrom('$', '{', '}', '!', 'TK', 'NO_TK', '-', ' ', '9', '${TK}', '$$', '$!'), {
      maxLength: 8,
    })
    .map((parts) => parts.join(''))
    .filter((value) => !value.startsWith('!'))
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const server = await serverOf(place, { command: 'x', env: { A: value } })
      const ours = await place.connect(server, { TK: 't' }).then(
        ({ env }) => env.A,
        () => undefined,
      )
      expect(ours).toBe(resolveConfigValueUncached(value, { TK: 't' }))
    }),
    { numRuns: 300 },
  )
})

test('env of a process is filled in as well', async () => {
  const place = createPlace()
  const server = await serverOf(place, {
    command: 'x',
    env: { A: '${TOKEN}', B: '!printf "%s" "$TOKEN"', C: 'c', D: '${BAD}' },
  })
  const request = await place.connect(server, ENV)
  expect(request.env).toEqual({ A: 't0k', B: 't0k', C: 'c', D: 'a\r\nb' })
  expect(request.transport).toMatchObject({ type: 'stdio', env: request.env })
  expect(server.transport).toMatchObject({ env: { A: '${TOKEN}' } })
})

test('an address is filled in, and nothing else of the entry', async () => {
  const place = createPlace()
  const request = await place.connect(
    await serverOf(place, { url: 'https://${HOST}/${NONE:-mcp}?$filter=$TOKEN' }),
    ENV,
  )
  expect(request.transport).toMatchObject({ url: 'https://example.com/mcp?$filter=$TOKEN' })
  const stdio = await place.connect(
    await serverOf(place, { command: '$TOKEN', args: ['${TOKEN}'], cwd: '${TOKEN}' }),
    ENV,
  )
  expect(stdio.transport).toMatchObject({
    command: '$TOKEN',
    args: ['${TOKEN}'],
    cwd: join(place.cwd, '${TOKEN}'),
  })
})

test.each([
  [header('Bearer ${NONE}'), 'failed to resolve header "Authorization" from environment variable: NONE'],
  [
    header('$NONE${ALSO_NONE}'),
    'failed to resolve header "Authorization" from environment variables: NONE, ALSO_NONE',
  ],
  [header('${EMPTY}'), 'failed to resolve header "Authorization" from environment variable: EMPTY'],
  [header('${toString}'), 'failed to resolve header "Authorization" from environment variable: toString'],
  [
    header('${BAD}'),
    'failed to resolve header "Authorization" (its value holds a line break or another character that HTTP does not allow)',
  ],
  [
    header('Bearer x\r\nx-more: 1'),
    'failed to resolve header "Authorization" (its value holds a line break or another character that HTTP does not allow)',
  ],
  [
    header('${SNOW}'),
    'failed to resolve header "Authorization" (its value holds a line break or another character that HTTP does not allow)',
  ],
  [{ command: 'x', env: { KEY: '${NONE}' } }, 'failed to resolve env "KEY" from environment variable: NONE'],
  [{ command: 'x', env: { KEY: 'a\0' } }, 'failed to resolve env "KEY" (its value holds a null character)'],
  [{ url: 'https://${NONE}/mcp' }, 'failed to resolve url from environment variable: NONE'],
  [{ url: '${TOKEN}/mcp' }, 'failed to resolve url (it must be an http or https URL)'],
  [
    { url: '${NONE:-https://t0k@example.com}/mcp' },
    'failed to resolve url (it must not contain credentials; use headers)',
  ],
  [header('!echo t0k\0'), 'failed to resolve header "Authorization" (its command holds a null character)'],
  [header('!exit 3'), 'failed to resolve header "Authorization" (its command failed with exit code 3)'],
  [
    header('!echo t0k >&2; echo t0k; exit 1'),
    'failed to resolve header "Authorization" (its command failed with exit code 1)',
  ],
  [header('!true'), 'failed to resolve header "Authorization" (its command printed nothing)'],
  [header('!kill -9 $$'), 'failed to resolve header "Authorization" (its command was ended by SIGKILL)'],
  [
    header('!head -c 1100000 /dev/zero'),
    'failed to resolve header "Authorization" (its command printed more than 1 MiB)',
  ],
  [
    header('!printf "a\\nb"'),
    'failed to resolve header "Authorization" (its value holds a line break or another character that HTTP does not allow)',
  ],
])('%j is a named error before connecting', async (entry, message) => {
  const place = createPlace()
  const failure: unknown = await place
    .connect(await serverOf(place, entry), ENV)
    .catch((thrown: unknown) => thrown)
  expect(isTaplineError(failure)).toBe(true)
  expect(failure).toMatchObject({
    code: 'CREDENTIAL_MISSING',
    message,
    place: { server: 'a', plugin: 'config-pi', hook: 'connect' },
  })
  expect(JSON.stringify([failure, String(failure), (failure as Error).stack])).not.toContain('t0k')
})

test('a command runs in the session’s directory, its output is trimmed, its errors are not read', async () => {
  const place = createPlace()
  const server = await serverOf(place, {
    command: 'x',
    env: { A: '!pwd; echo noise >&2', B: '!printf "\\n b \\n\\n"' },
  })
  expect((await place.connect(server, ENV)).env).toEqual({
    A: expect.stringMatching(/work\/project$/),
    B: 'b',
  })
})

test('a command runs anew at each connect', async () => {
  const place = createPlace()
  const server = await serverOf(place, { command: 'x', env: { A: '!echo x >> count; wc -l < count' } })
  expect((await place.connect(server, ENV)).env.A).toBe('1')
  expect((await place.connect(server, ENV)).env.A).toBe('2')
})

test('a command ends with all that it started after 10 seconds', async () => {
  const place = createPlace()
  const server = await serverOf(place, {
    command: 'x',
    env: { A: '!(while sleep 0.05; do echo >> beat; done) & sleep 60' },
  })
  const beats = (): number =>
    existsSync(join(place.cwd, 'beat')) ? statSync(join(place.cwd, 'beat')).size : 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const connecting = place.connect(server, ENV)
    connecting.catch(() => undefined)
    while (beats() === 0) await sleep(10)
    vi.advanceTimersByTime(9_999)
    const before = beats()
    while (beats() === before) await sleep(10)
    vi.advanceTimersByTime(1)
    await expect(connecting).rejects.toThrow(
      'failed to resolve env "A" (its command did not end within 10 s)',
    )
  } finally {
    vi.useRealTimers()
  }
  await sleep(100)
  const after = beats()
  await sleep(300)
  expect(beats()).toBe(after)
})

test('a cancelled connect ends its command', async () => {
  const place = createPlace()
  const server = await serverOf(place, { command: 'x', env: { A: '!touch began; sleep 60' } })
  const abort = new AbortController()
  const connecting = place.connect(server, ENV, abort.signal)
  connecting.catch(() => undefined)
  while (!existsSync(join(place.cwd, 'began'))) await sleep(10)
  abort.abort()
  await expect(connecting).rejects.toThrow('its command was cancelled')
  await expect(place.connect(server, ENV, abort.signal)).rejects.toThrow('its command was cancelled')
})

test('registered servers are filled in, servers of other dialects are not touched', async () => {
  const place = createPlace()
  const registered = [{ name: 'r', config: header('$TOKEN'), by: 'x' }]
  const [server] = (await place.read({}, { registered })).servers
  expect((await place.connect(server!, ENV)).headers).toEqual({ Authorization: 't0k' })
  const other = await place.connect({ ...server!, dialect: 'mcp.toml' }, ENV)
  expect(other.headers).toEqual({})
  expect(other.transport).toBe(server!.transport)
})

import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const GOOD = '[[server]]\nname = "good"\ncommand = "x"\n'
const NOTHING = { servers: [], diagnostics: [], questions: [] }

test('no file is no problem, whatever is missing of its path', async () => {
  const place = createPlace()
  expect(await place.read()).toEqual(NOTHING)
  rmSync(dirname(place.project), { recursive: true })
  writeFileSync(dirname(place.project), 'a file where the folder should be')
  expect(await place.read()).toEqual(NOTHING)
})

test.each(['', '\n\n', '# nothing but a comment\n', '\uFEFF', '"$schema" = "x"'])(
  '%j has no servers',
  async (text) => {
    expect(await createPlace().read({ user: text, project: text })).toEqual(NOTHING)
  },
)

test.each<[string, string | Uint8Array, string, number?]>([
  ['a missing value', 'a = 1\nb =\n', 'parse failed: TOML line 2: invalid value', 2],
  [
    'a repeated key',
    '[[server]]\nname = "a"\nname = "b"',
    'parse failed: TOML line 3: trying to redefine an already defined table or value',
    3,
  ],
  [
    'an open string',
    'a = "b\nc = 1',
    'parse failed: TOML line 1: control characters are not allowed in strings',
    1,
  ],
  ['JSON', '{ "mcpServers": {} }', 'parse failed: TOML line 1: illegal character in key', 1],
  [
    'a huge integer',
    'a = 9223372036854775807',
    'parse failed: TOML line 1: integer value cannot be represented losslessly',
    1,
  ],
  ['invalid UTF-8', Buffer.from('a = 1\nb = "\xff"', 'latin1'), 'read failed: line 2 is not valid UTF-8', 2],
])('%s is one diagnostic with its line', async (_what, content, problem, line) => {
  const place = createPlace()
  const state = await place.read({ user: content, project: GOOD })
  expect(state.diagnostics).toEqual([
    { severity: 'error', message: `mcp config (user, ${place.user}): ${problem}`, path: place.user, line },
  ])
  expect(state.servers.map(({ name }) => name)).toEqual(['good'])
})

test('endless nesting is a TOML error like others', async () => {
  const state = await createPlace().read({ user: `a = ${'['.repeat(100_000)}` })
  expect(messages(state)).toEqual([expect.stringContaining('parse failed: TOML line 1: ')])
})

test('a directory in its place, a socket, a circle of links, a huge file', async () => {
  const place = createPlace()
  const failed = (reason: string) => [`mcp config (user, ${place.user}): read failed: ${reason}`]
  mkdirSync(place.user)
  expect(messages(await place.read())).toEqual(failed('it is a directory'))
  rmSync(place.user, { recursive: true })
  symlinkSync(place.user, place.user)
  expect(messages(await place.read())).toEqual(failed('its symbolic links lead in a circle'))
  rmSync(place.user)
  expect(messages(await place.read({ user: ' '.repeat(1024 * 1024 + 1) }))).toEqual(
    failed('it is larger than 1 MiB'),
  )
  rmSync(place.user)
  if (process.platform === 'win32') return
  const socket = createServer().listen(place.user)
  await once(socket, 'listening')
  expect(messages(await place.read())).toEqual(failed('it is not a regular file'))
  socket.close()
})

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a file that may not be read',
  async () => {
    const place = createPlace()
    writeFileSync(place.user, GOOD)
    chmodSync(place.user, 0)
    expect(messages(await place.read())).toEqual([
      `mcp config (user, ${place.user}): read failed: permission denied`,
    ])
  },
)

test('a byte order mark and Windows line ends are nothing to speak of', async () => {
  const state = await createPlace().read({ user: `\uFEFF${GOOD.replaceAll('\n', '\r\n')}` })
  expect(state).toMatchObject({ servers: [{ name: 'good', source: { line: 1 } }], diagnostics: [] })
})

test.each([
  ['servers = []', 'unknown key "servers" is ignored; did you mean "server"?'],
  ['[[severs]]', 'unknown key "severs" is ignored; did you mean "server"?'],
  ['[mcpServers.x]', 'unknown key "mcpServers" is ignored; did you mean "server"?'],
  ['[triggers]', 'unknown key "triggers" is ignored'],
  ['[server]\nname = "a"\ncommand = "x"', 'server must be written as [[server]], once for each server'],
  ['server = "a"', 'server must be written as [[server]], once for each server'],
])('the file %j: %s', async (text, message) => {
  const place = createPlace()
  expect(messages(await place.read({ user: text }))).toEqual([`mcp config (user, ${place.user}): ${message}`])
})

test('what is not a table in the list of servers fails alone', async () => {
  const state = await createPlace().read({ user: 'server = [1, { name = "a", command = "x" }, "x", []]' })
  expect(messages(state)).toEqual(
    [1, 3, 4].map((number) => `mcp server '#${number}' failed: the entry must be a table`),
  )
  expect(state.servers).toMatchObject([{ name: 'a' }])
})

test('[danger] is the user’s to write, and not the project’s', async () => {
  const place = createPlace()
  const danger = '[danger]\nallow = ["rm -rf /var/cache/mybuild"]\n'
  expect(await place.read({ user: danger })).toEqual(NOTHING)
  const state = await place.read({ user: danger + GOOD, project: danger + GOOD.replace('good', 'other') })
  expect(messages(state)).toEqual([
    `mcp config (project, ${place.project}): [danger] is ignored: a project cannot exempt itself; move it to your own mcp.toml or config.toml`,
  ])
  expect(state.servers).toHaveLength(2)
})

test('lines are those of the headers, or none where that is uncertain', async () => {
  const place = createPlace()
  const two = '\n[[server]]\nname = "a"\ncommand = "x"\n\n  [[ "server" ]] # second\nname = "b"\n'
  const state = await place.read({ user: two })
  expect([state.servers[0]!.source.line, state.diagnostics[0]!.line]).toEqual([2, 6])
  const misleading = await place.read({
    user: 'x = """\n[[server]]\n"""\n[[server]]\nname = "a"\ncommand = "x"',
  })
  expect(misleading.servers[0]!.source).not.toHaveProperty('line')
})

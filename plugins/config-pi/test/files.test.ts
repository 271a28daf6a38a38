import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const good = { command: 'npx' }
const EXPECTED = 'expected an object with an "mcpServers" object'

test('no file is no problem, whatever is missing of its path', async () => {
  const place = createPlace()
  expect(await place.read()).toEqual({ servers: [], diagnostics: [], questions: [] })
  rmSync(dirname(place.project), { recursive: true })
  writeFileSync(dirname(place.project), 'a file where the folder should be')
  expect(await place.read()).toEqual({ servers: [], diagnostics: [], questions: [] })
})

test.each<[string, string | Uint8Array, string, number?]>([
  ['an empty file', '', `the file is empty; ${EXPECTED}`],
  ['a blank file', ' \n\n', `the file is empty; ${EXPECTED}`],
  ['only a byte order mark', '\uFEFF', `the file is empty; ${EXPECTED}`],
  [
    'a line comment',
    '{\n  // mine\n  "mcpServers": {}\n}',
    'comments are not allowed in mcp.json: pi would refuse the file',
    2,
  ],
  [
    'a block comment',
    '{ "mcpServers": {} /* mine */ }',
    'comments are not allowed in mcp.json: pi would refuse the file',
    1,
  ],
  ['an open comment', '{}\n/* mine', 'comments are not allowed in mcp.json: pi would refuse the file', 2],
  [
    'a trailing comma',
    '{\n "mcpServers": {\n  "a": {},\n }\n}',
    'trailing commas are not allowed in mcp.json: pi would refuse the file',
    3,
  ],
  [
    'a trailing comma in a list',
    '{"a":[1,\n]}',
    'trailing commas are not allowed in mcp.json: pi would refuse the file',
    1,
  ],
  ['a missing comma', '{\n "a": 1\n "b": 2\n}', 'a comma is expected here', 3],
  ['a missing brace', '{\n "a": 1\n', 'a closing } is missing', 3],
  ['single quotes', "{'a': 1}", 'this is not JSON (names and strings stand in double quotes)', 1],
  [
    'a bad escape',
    '{\n"command": "C:\\\\dir\\q"}',
    'a \\ escape is not valid (write \\\\ for a backslash)',
    2,
  ],
  ['a second document', '{}\n{}', 'there is more text after the end of the JSON', 2],
  ['no JSON at all', 'servers:\n  - a', 'this is not JSON (names and strings stand in double quotes)', 1],
  ['endless nesting', '['.repeat(200_000), 'it is not valid JSON'],
  ['invalid UTF-8', Buffer.from('{\n"a": "\xff"}', 'latin1'), 'it is not valid UTF-8', 2],
  ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), 'it is not valid UTF-8', 1],
  ['a list', '[]', EXPECTED, 1],
  ['a string', '"x"', EXPECTED, 1],
  ['null', 'null', EXPECTED, 1],
  ['a list of servers', '{\n"mcpServers": []}', EXPECTED, 2],
  ['null for servers', '{\n"mcpServers": null}', EXPECTED, 2],
  ['text for servers', '{\n"mcpServers": "x"}', EXPECTED, 2],
])('%s is one diagnostic with its line', async (_what, content, problem, line) => {
  const place = createPlace()
  const state = await place.read({ user: content, project: { mcpServers: { good } } })
  expect(state.diagnostics).toEqual([
    {
      severity: 'error',
      message: `${place.user}${line === undefined ? '' : `:${line}`}: ${problem}`,
      path: place.user,
      ...(line === undefined ? {} : { line }),
    },
  ])
  expect(state.servers.map(({ name }) => name)).toEqual(['good'])
})

test('a byte order mark is nothing to speak of', async () => {
  const place = createPlace()
  const state = await place.read({ user: `\uFEFF${JSON.stringify({ mcpServers: { good } })}` })
  expect(state).toMatchObject({ servers: [{ name: 'good' }], diagnostics: [] })
})

test('a file may have no servers', async () => {
  expect(await createPlace().read({ user: {}, project: { mcpServers: {} } })).toEqual({
    servers: [],
    diagnostics: [],
    questions: [],
  })
})

test('a directory in its place, a socket, a circle of links, a huge file', async () => {
  const place = createPlace()
  mkdirSync(place.user)
  expect(messages(await place.read())).toEqual([`${place.user}: it is a directory`])
  rmSync(place.user, { recursive: true })
  symlinkSync(place.user, place.user)
  expect(messages(await place.read())).toEqual([
    `${place.user}: it cannot be read (its symbolic links lead in a circle)`,
  ])
  rmSync(place.user)
  place.write(place.user, ' '.repeat(4 * 1024 * 1024 + 1))
  expect(messages(await place.read())).toEqual([`${place.user}: it is larger than 4 MiB`])
  rmSync(place.user)
  if (process.platform === 'win32') return
  const socket = createServer().listen(place.user)
  await once(socket, 'listening')
  expect(messages(await place.read())).toEqual([`${place.user}: it is not a regular file`])
  socket.close()
})

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a file that may not be read',
  async () => {
    const place = createPlace()
    place.write(place.user, '{}')
    chmodSync(place.user, 0)
    expect(messages(await place.read())).toEqual([`${place.user}: it cannot be read (permission denied)`])
  },
)

test('unknown top-level keys are named, known ones of other clients explained', async () => {
  const place = createPlace()
  const state = await place.read({
    user: { $schema: 'x', servers: {}, mcpServer: {}, inputs: [], imports: [], mcpServers: { good } },
  })
  expect(messages(state)).toEqual([
    `${place.user}:3: unknown key "servers" is ignored; did you mean "mcpServers"?`,
    `${place.user}:4: unknown key "mcpServer" is ignored; did you mean "mcpServers"?`,
    `${place.user}:5: unknown key "inputs" is ignored; did you mean "mcpServers"?`,
    `${place.user}:6: unknown key "imports" is ignored`,
  ])
  expect(state.servers).toHaveLength(1)
})

test('autoEnableCodemode: the project’s value before the user’s', async () => {
  const place = createPlace()
  expect(await place.read({ user: {} })).not.toHaveProperty('autoEnableCodemode')
  expect(await place.read({ user: { autoEnableCodemode: false } })).toHaveProperty(
    'autoEnableCodemode',
    false,
  )
  expect(await place.read({ project: { autoEnableCodemode: true } })).toHaveProperty(
    'autoEnableCodemode',
    true,
  )
  const state = await place.read({ project: { autoEnableCodemode: 'no', mcpServers: { good } } })
  expect(state).toMatchObject({ autoEnableCodemode: false, servers: [{ name: 'good' }] })
  expect(messages(state)).toEqual([`${place.project}:2: autoEnableCodemode must be a boolean`])
})

test('diagnostics carry the line of the field, sources the line of the entry', async () => {
  const place = createPlace()
  const text =
    '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "b": {\n      "command": "x",\n      "env": {\n        "A": 1\n      },\n      "timout": 3\n    }\n  }\n}'
  const state = await place.read({ user: text })
  expect(state.servers[0]!.source.line).toBe(3)
  expect(state.diagnostics.map(({ line, server }) => [server, line])).toEqual([
    ['b', 9],
    ['b', 7],
  ])
})

test('a name that stands twice is said, and the last entry counts as under pi', async () => {
  const state = await createPlace().read({
    user: '{"mcpServers":{"a":{"command":"x"},\n"a":{"command":"y"}}}',
  })
  expect(messages(state)).toEqual([
    `mcp server 'a': the name stands more than once in the file; the last entry counts`,
  ])
  expect(state.servers).toMatchObject([{ transport: { command: 'y' }, source: { line: 2 } }])
})

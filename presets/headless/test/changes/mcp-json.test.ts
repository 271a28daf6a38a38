import { assert, boolean, constantFrom, dictionary, jsonValue, property } from 'fast-check'
import { expect, it } from 'vitest'
import { changedJson } from '../../src/changes/mcp-json.ts'

const FILE = `{
  "$schema": "x",
  "mcpServers": {
    "one": { "command": "a", "args": ["1",   "2"] },
    "two": {
        "url": "http://localhost/mcp",
        "enabled": false,
        "exposure": "direct"
    },
    "over": { "exposure": "direct" }
  },
  "autoEnableCodemode":   true
}
`

it('changes the one value and leaves every other character', () => {
  expect(changedJson('f', FILE, 'one', { enabled: false })).toBe(
    FILE.replace('["1",   "2"] }', '["1",   "2"], "enabled": false }'),
  )
  expect(changedJson('f', FILE, 'two', { exposure: 'hidden' })).toBe(FILE.replace('"direct"\n', '"hidden"\n'))
  const crlf = `\uFEFF${FILE.replaceAll('\n', '\r\n')}`
  expect(changedJson('f', crlf, 'two', { exposure: 'hidden' })).toBe(
    crlf.replace('"direct"\r\n', '"hidden"\r\n'),
  )
})

const tabbed = '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}'
const crlf =
  '{\r\n    "mcpServers": {\r\n        "a": {\r\n            "command":"x",   "args":[ "y" ]\r\n        }\r\n    }\r\n}\r\n'
const compact = '{"mcpServers":{"a":{"command":"x","exposure":"hidden"},"b":{"command":"y"}}}'
const mixed =
  '{\n  "mcpServers": {\n    "a": {"url":"x",  "exposure":"hidden"  , "args":[ 1,2 ]},\n    "b": {  }\n  }\n}\n'
const loose =
  '{\n  "mcpServers": {\n    "a": {\n      "args":[ 1,2 ],  "exposure":"hidden",\n      "url":"x"   }\n  }\n}\n'

it.each([
  ['tabs, no last line end', tabbed, { exposure: 'direct' }, '"x"', '"x",\n\t\t\t"exposure": "direct"'],
  ['CRLF and spaces of its own', crlf, { exposure: 'direct' }, '[ "y" ]', '[ "y" ],   "exposure":"direct"'],
  ['one line', compact, { exposure: 'direct' }, 'hidden', 'direct'],
  ['one line, taken out', compact, { exposure: 'codemode' }, ',"exposure":"hidden"', ''],
  ['one line, added', compact, { enabled: false }, '"hidden"', '"hidden","enabled":false'],
  ['an entry on one line', mixed, { exposure: 'codemode' }, '"exposure":"hidden"  , ', ''],
  ['the last of a line', loose, { exposure: 'codemode' }, '"exposure":"hidden",\n      ', ''],
  ['the last one', loose, { enabled: false }, '"x"   ', '"x",\n      "enabled":false   '],
] as const)('writes as the file does: %s', (_what, file, change, before, after) => {
  expect(changedJson('f', file, 'a', change)).toBe(file.replace(before, after))
})

it.each([
  ['tabs', tabbed, '\t\t}', '\t\t},\n\t\t"new": {\n\t\t\t"exposure": "direct"\n\t\t}'],
  [
    'CRLF',
    crlf,
    '        }',
    '        },\r\n        "new": {\r\n            "exposure": "direct"\r\n        }',
  ],
  ['one line', compact, '"y"}', '"y"},"new":{"exposure":"direct"}'],
  ['nothing yet', '{ "z":1 }', '1', '1,"mcpServers":{"new":{"exposure":"direct"}}'],
  [
    'nothing in it',
    '{\n  "mcpServers": {}\n}',
    '{}',
    '{\n    "new": {\n      "exposure": "direct"\n    }\n  }',
  ],
  ['nothing in a line', '{ "mcpServers": {  } }', '{  }', '{ "new": { "exposure": "direct" } }'],
])('adds an override as the file is written: %s', (_what, file, before, after) => {
  expect(changedJson('f', file, 'new', { exposure: 'direct' }, true)).toBe(file.replace(before, after))
})

it('takes the default out of an entry that defines its server, and says it in an override', () => {
  const two = JSON.parse(changedJson('f', FILE, 'two', { enabled: true, exposure: 'codemode' })) as object
  expect(two).toHaveProperty('mcpServers.two', { url: 'http://localhost/mcp' })
  const over = changedJson('f', FILE, 'over', { enabled: true, exposure: 'codemode' })
  expect(over).toContain('"over": { "exposure": "codemode", "enabled": true }')
})

it('adds an override where there is none, also to a file that is not there', () => {
  expect(changedJson('f', '', 'new', { enabled: false }, true)).toBe(
    '{\n  "mcpServers": {\n    "new": {\n      "enabled": false\n    }\n  }\n}\n',
  )
  const added = changedJson('f', FILE, 'new', { exposure: 'direct' }, true)
  expect(added).toContain('["1",   "2"]')
  expect(JSON.parse(added)).toHaveProperty('mcpServers.new', { exposure: 'direct' })
})

it.each([
  ['{ "mcpServers": { "one": { "command": "secret" } ', /f was not changed: it is not a valid JSON object/],
  ['[]', /it is not a valid JSON object/],
  ['{ "mcpServers": [] }', /"mcpServers" is not an object/],
  ['{ "mcpServers": { "one": 1 } }', /it has no entry for the server "one"/],
  ['{}', /it has no entry for the server "one"; reload with \/mcp reload/],
  [
    '{ "mcpServers": { "one": { "command": "a" }, "one": { "command": "b" } } }',
    /the server "one", or a key of it, stands in it more than once/,
  ],
  ['{ "mcpServers": { "one": { "command": "a", "enabled": true, "enabled": true } } }', /more than once/],
])('refuses what it cannot change for certain: %s', (text, message) => {
  const attempt = () => changedJson('f', text, 'one', { enabled: false })
  expect(attempt).toThrow(message)
  expect(attempt).not.toThrow(/secret/)
})

it('gives what a rewrite of the whole would give, whatever the file holds', () => {
  const entry = dictionary(
    constantFrom('command', 'url', 'enabled', 'exposure', 'args', 'x'),
    jsonValue({ maxDepth: 2 }),
  )
  const servers = dictionary(constantFrom('a', 'b', 'c-d', 'e_f'), entry, { minKeys: 1 })
  assert(
    property(servers, constantFrom(undefined, 1, 2, '\t'), boolean(), (written, space, enabled) => {
      const text = JSON.stringify({ mcpServers: written, other: [1] }, undefined, space)
      // JSON has no negative zero.
      const { mcpServers } = JSON.parse(text) as { mcpServers: typeof written }
      const [name, before] = Object.entries(mcpServers)[0]!
      const after = JSON.parse(changedJson('f', text, name, { enabled })) as {
        mcpServers: object
        other: unknown
      }
      const defines = before.command !== undefined || before.url !== undefined
      const { enabled: _old, ...rest } = before
      const expected = enabled && defines ? rest : { ...before, enabled }
      expect(after).toEqual({ mcpServers: { ...mcpServers, [name]: expected }, other: [1] })
    }),
  )
})

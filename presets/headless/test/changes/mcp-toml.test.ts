import { expect, it } from 'vitest'
import { changedToml } from '../../src/changes/mcp-toml.ts'

const FILE = `# mine
[danger]
mode = "ask"

[[server]] # the first
name = "one"   # its name
command = "a"
args = [
  "x",
]
  exposure = 'codemode' # until tools are sorted
[server.env]
enabled = "no"

[[server]]
command = "b"
name = "two"
enabled = true
`

it('changes one line, or adds one below the name, and keeps comments and order', () => {
  expect(changedToml('f', FILE, 'one', { exposure: 'hidden' })).toBe(
    FILE.replace(
      "exposure = 'codemode' # until tools are sorted",
      'exposure = "hidden" # until tools are sorted',
    ),
  )
  expect(changedToml('f', FILE, 'two', { enabled: false })).toBe(
    FILE.replace('enabled = true', 'enabled = false'),
  )
  expect(changedToml('f', FILE, 'one', { enabled: false })).toBe(
    FILE.replace('# its name\n', '# its name\nenabled = false\n'),
  )
  const crlf = FILE.replaceAll('\n', '\r\n')
  expect(changedToml('f', crlf, 'one', { enabled: false })).toBe(
    crlf.replace('# its name\r\n', '# its name\r\nenabled = false\r\n'),
  )
})

it('changes the later of two entries of one name, which is the one that counts', () => {
  const twice = `${FILE}\n[[server]]\nname = "two"\ncommand = "c"\n`
  expect(changedToml('f', twice, 'two', { enabled: false })).toBe(
    twice.replace(/name = "two"\ncommand = "c"/, 'name = "two"\nenabled = false\ncommand = "c"'),
  )
})

it.each([
  ['server = [{ name = "one", command = "a" }]', /write enabled = false there yourself/],
  ['[[server]]\nname = "one"\ncommand = """\n[[server]]\nname"""\nenabled = true', /unusual way|yourself/],
  ['[[server]]\nname = "two"', /it has no entry for the server "one"/],
  ['= secret', /it is not valid TOML; fix it first/],
])('refuses what it cannot change for certain: %s', (text, message) => {
  const attempt = () => changedToml('f', text, 'one', { enabled: false })
  expect(attempt).toThrow(message)
  expect(attempt).not.toThrow(/secret/)
})

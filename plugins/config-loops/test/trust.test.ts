import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const TEXT = `\uFEFF[[server]]
name = "build"
command = "npx"
args = ["-y", "@example/server", "two words", 3]
cwd = "tools"
env = { BUILD_TOKEN = "s3cret", N = 3 }
inherit_env = true
inject_and_run = true

[[server]]
name = "hub"
kind = "streamable_http"
endpoint = "https://name:s3cret@example.com:8443/mcp?key=s3cret"
auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_HUB", token = "s3cret" }
push = { default = "summary", "notifications/x" = "run", "notifications/*" = { policy = "inbox", limit = "6/hour", windows = "all" } }
subscribe = ["db://*"]
channel = true
`

const ignored = (path: string, why = 'say yes when you are asked about it, or start with --approve') =>
  `project MCP config ignored at ${path}: project is not trusted (${why})`
const SAID_NO = 'you said no; you are asked again when the file changes, and --approve uses it once'

test('an unanswered file gives one question, one diagnostic and nothing else', async () => {
  const place = createPlace()
  const asked: unknown[] = []
  const state = await place.read(
    { user: '[[server]]\nname = "mine"\ncommand = "x"', project: TEXT },
    { trustOf: (...question) => void asked.push(question) },
  )
  expect(asked).toEqual([[place.project, place.cwd, TEXT]])
  expect(state.servers).toMatchObject([{ name: 'mine' }])
  expect(state.diagnostics).toEqual([
    { severity: 'warning', message: ignored(place.project), path: place.project },
  ])
  expect(state.questions).toEqual([
    {
      path: place.project,
      directory: place.cwd,
      content: TEXT,
      facts: [
        'build runs: npx -y @example/server "two words" 3',
        'build runs in: tools',
        'build sets in its environment: BUILD_TOKEN, N',
        'build gets your whole environment, with every key and token in it',
        'build its pushes (all): run, shown in the chat and each starts one turn',
        'hub connects to: https://example.com:8443/mcp?…',
        'hub sends the credential: PI_MCP_TOKEN_HUB',
        'hub its pushes (all): summary, shown in the chat',
        'hub its pushes (notifications/x): run, shown in the chat and each starts one turn',
        'hub its pushes ("notifications/*"): inbox, at most 6/hour, in windows: all',
        'hub subscribes to: "db://*"',
        'hub asks to be a channel: what it sends would start turns with its own words',
      ],
    },
  ])
  expect(JSON.stringify(state.questions[0]!.facts)).not.toContain('s3cret')
})

test('only an explicit yes counts', async () => {
  const place = createPlace()
  const no = await place.read({ project: TEXT }, { trustOf: () => false })
  expect(no).toEqual({
    servers: [],
    diagnostics: [{ severity: 'warning', message: ignored(place.project, SAID_NO), path: place.project }],
    questions: [],
  })
  const odd = await place.read({}, { trustOf: () => 'yes' as never })
  expect(odd).toEqual(no)
  const broken = await place.read(
    {},
    {
      trustOf: () => {
        throw new Error('the store is damaged')
      },
    },
  )
  expect(broken).toEqual(no)
  const yes = await place.read({}, { trustOf: () => true })
  expect([yes.servers.map(({ name }) => name), yes.questions]).toEqual([['build'], []])
})

test('pi’s own trust does not count', async () => {
  const place = createPlace()
  const state = await place.read({ project: TEXT }, { projectTrusted: true, trustOf: () => undefined })
  expect([state.servers.length, state.questions.length]).toEqual([0, 1])
  const yes = await place.read({}, { projectTrusted: false, trustOf: () => true })
  expect(yes.servers).toHaveLength(1)
})

test('the yes is for exactly this content', async () => {
  const place = createPlace()
  const trustOf = (_path: string, _directory: string, content: string) =>
    content === TEXT ? true : undefined
  expect((await place.read({ project: TEXT }, { trustOf })).servers).toHaveLength(1)
  const changed = await place.read({ project: `${TEXT}# later` }, { trustOf })
  expect([changed.servers.length, changed.questions.length]).toEqual([0, 1])
})

test('a file that cannot be parsed is not asked about', async () => {
  const place = createPlace()
  const state = await place.read(
    { project: '[[server]]\nname = "a"\ncommand = s3cret' },
    { trustOf: () => undefined },
  )
  expect(state.questions).toEqual([])
  expect(messages(state)).toEqual([
    `project MCP config ignored at ${place.project}: parse failed: TOML line 3: invalid value`,
  ])
  const trusted = await place.read()
  expect(messages(trusted)).toEqual([
    `mcp config (project, ${place.project}): parse failed: TOML line 3: invalid value`,
  ])
})

test('a file that starts nothing and reaches nothing needs no yes', async () => {
  const place = createPlace()
  const state = await place.read(
    { project: '[danger]\nallow = ["x"]\n[[server]]\nname = "a"' },
    { trustOf: () => undefined },
  )
  expect(state.questions).toEqual([])
  expect(messages(state)).toEqual([
    expect.stringContaining('[danger] is ignored'),
    `mcp server 'a' failed: missing command`,
  ])
})

test.each([
  ['[[server]]\ncommand = "x"', ['#1 runs: x']],
  ['[[server]]\nname = "a\\u202Eb\\u001B[0m"\ncommand = "x"', ['a?b?[0m runs: x']],
  ['[[server]]\nname = "a"\ncommand = "rm\\u202E -rf\\u0000/"', ['a runs: "rm\\u{202e} -rf\\u0000/"']],
  ['[[server]]\nname = "a"\ncommand = "x"\nargs = [["y"], "\\"", ""]', ['a runs: x (not a string) "\\"" ""']],
  ['[server]\nname = "a"\ncommand = "x"', ['a runs: x']],
  ['[[server]]\nname = "a"\ncommand = ["sh", "-c"]', ['a runs: (not a string)']],
  [
    '[[server]]\nname = "a"\nkind = "odd"\nendpoint = "nowhere"',
    ['a connects to: an address that cannot be read'],
  ],
  ['[[server]]\nname = "a"\nendpoint = 3', ['a connects to: an address that cannot be read']],
  [
    '[[server]]\nname = "a"\nauth = { token_keychain_ref = "sk-s3cret" }',
    ['a sends the credential: one that a project may not name'],
  ],
  [
    `[[server]]\nname = "a"\ncommand = "x"\nargs = ["${'y'.repeat(3000)}"]`,
    [
      `a runs: x ${'y'.repeat(1992)}… (1008 more characters: read the file)`.replace(
        'a runs: x',
        'a runs: x',
      ),
    ],
  ],
])('every command and address of %j is named, valid or not', async (project, facts) => {
  const state = await createPlace().read({ project }, { trustOf: () => undefined })
  expect(state.questions.map((question) => question.facts)).toEqual([facts])
})

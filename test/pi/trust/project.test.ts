import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runPi } from '../../drivers/pi-run.ts'
import type { UiRequest } from '../../drivers/pi.ts'
import { callTool, connected, createStage, misbehaving, noticed, said, serversShow } from '../stage.ts'
import { TAPLINE, toolAnswer, tomlOf, type ServerLog, type Stage } from '../stage.ts'

const YES = 'Use this file'
const NO = 'Do not use it'

/** A project with a file of its own; answers the log of its server. */
function project({ scratch, log }: Stage, name = 'proj'): ServerLog {
  const own = log(name)
  const hub = {
    kind: 'streamable_http',
    endpoint: 'https://hub.example/mcp',
    auth: { kind: 'bearer', token_keychain_ref: 'PI_MCP_TOKEN_HUB' },
    enabled: false,
  }
  const entry = { ...misbehaving('--log', own.path), env: { SOME_SECRET: 'hunter2' } }
  scratch.write('project/.pi/mcp.toml', tomlOf({ [name]: entry, hub }))
  return own
}

/** Answers every question alike and remembers them. */
function answering(answer: string | undefined): {
  asked: UiRequest[]
  onUi: (request: UiRequest) => string | undefined
} {
  const asked: UiRequest[] = []
  return { asked, onUi: (request) => (asked.push(request), answer) }
}

describe('.pi/mcp.toml of a project', () => {
  it('is not used before the yes, which is remembered until the file changes', async () => {
    await using stage = await createStage()
    const log = project(stage)
    const user = stage.log('user')
    stage.json({ user: misbehaving('--log', user.path) })
    const person = Promise.withResolvers<string>()
    const asked: UiRequest[] = []
    const first = await stage.start({ onUi: (request) => (asked.push(request), person.promise) })
    await first.waitFor(({ method }) => method === 'select', 20_000, 0)
    await first.prompt('Anything there?')
    expect(log.entries()).toEqual([])
    expect(asked).toHaveLength(1)
    const question = `${asked[0]!.title}`
    for (const fact of [
      `${stage.scratch.project}/.pi/mcp.toml`,
      `proj runs: ${process.execPath} `,
      'misbehaving.mjs --log',
      'SOME_SECRET',
      'hub connects to: https://hub.example/mcp',
      'hub sends the credential: PI_MCP_TOKEN_HUB',
    ])
      expect(question).toContain(fact)
    expect(question).not.toContain('hunter2')

    person.resolve(YES)
    expect(await connected(first, 'proj', 'user')).not.toContain('ignored')
    expect(user.pids()).toHaveLength(1)
    expect(toolAnswer(await callTool(stage, first, 'echo', { text: 'trusted' }))).toBe('trusted')
    expect(said(first)).toEqual([])
    // A project's servers do not inherit the environment of pi.
    const { env } = JSON.parse(toolAnswer(await callTool(stage, first, 'process')))
    expect(env).toMatchObject({ SOME_SECRET: 'hunter2' })
    expect(env).not.toHaveProperty('PI_CODING_AGENT_DIR')
    await first.close()

    const again = answering(NO)
    const second = await stage.start(again)
    await connected(second, 'proj')
    expect(again.asked).toEqual([])
    await second.close()

    project(stage, 'changed')
    const third = await stage.start(answering(undefined))
    await third.waitFor(({ method }) => method === 'select', 20_000, 0)
    await serversShow(third, /project MCP config ignored at .*not trusted/)
  })

  it('is not used after a no: one message, and no further question', async () => {
    await using stage = await createStage()
    const log = project(stage)
    for (const expected of [1, 0]) {
      const person = answering(NO)
      const pi = await stage.start(person)
      expect(await noticed(pi, /mcp\.toml/)).toMatch(
        /^project MCP config ignored at \S+\/\.pi\/mcp\.toml: project is not trusted/,
      )
      await pi.prompt('Go on.')
      expect(person.asked).toHaveLength(expected)
      expect(said(pi)).toHaveLength(1)
      await pi.close()
    }
    expect(log.entries()).toEqual([])
  })

  it('is asked about again when nobody answered', async () => {
    await using stage = await createStage()
    const log = project(stage)
    for (let start = 0; start < 2; start++) {
      const person = answering(undefined)
      const pi = await stage.start(person)
      await noticed(pi, /project MCP config ignored/)
      expect(person.asked).toHaveLength(1)
      await pi.close()
    }
    expect(log.entries()).toEqual([])
  })

  it('is not used in print mode, which says so on stderr alone, unless --approve is given', async () => {
    await using stage = await createStage()
    const log = project(stage)
    const { model, scratch } = stage
    const print = (...args: string[]) =>
      runPi(['-p', '-e', TAPLINE, ...args, 'CALL echo {"text":"hi"}'], { model, scratch })
    const run = await print()
    expect(run).toMatchObject({ code: 0, stdout: 'ECHO[tool]: Tool echo not found\n' })
    expect(run.stderr.match(/project MCP config ignored/g)).toHaveLength(1)
    expect(log.entries()).toEqual([])
    expect(await print('--approve')).toMatchObject({ code: 0, stdout: 'ECHO[tool]: hi\n', stderr: '' })
  })

  it('that starts and reaches nothing needs no question', async () => {
    await using stage = await createStage()
    stage.scratch.write('project/.pi/mcp.toml', '# nothing yet\n')
    const person = answering(YES)
    const pi = await stage.start(person)
    await pi.prompt('hello')
    expect(await pi.command('/mcp')).toEqual([expect.stringContaining('No MCP servers are configured')])
    expect(person.asked).toEqual([])
  })
})

describe('.pi/tapline.ts of a project', () => {
  it('is not evaluated before the yes', async () => {
    await using stage = await createStage()
    const mark = `${stage.scratch.root}/evaluated`
    stage.scratch.write(
      'project/.pi/tapline.ts',
      `import { writeFileSync } from 'node:fs'
      writeFileSync('${mark}', 'yes')
      export default { naming: 'mcp' as const }`,
    )
    stage.toml({ user: misbehaving() })
    const person = Promise.withResolvers<string>()
    const pi = await stage.start({ onUi: () => person.promise })
    const question = await pi.waitFor(({ method }) => method === 'select', 20_000, 0)
    expect(question.title).toContain('tapline.ts')
    await connected(pi, 'user')
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'before' }))).toBe('before')
    expect(existsSync(mark)).toBe(false)
    person.resolve(YES)
    await pi.waitFor(({ statusText }) => statusText === 'MCP 0/1 · 1 connecting…')
    await connected(pi, 'user')
    expect(readFileSync(mark, 'utf8')).toBe('yes')
    expect(toolAnswer(await callTool(stage, pi, 'mcp__user__echo', { text: 'after' }))).toBe('after')
  })

  it('is not evaluated in print mode', async () => {
    await using stage = await createStage()
    const mark = `${stage.scratch.root}/evaluated`
    stage.scratch.write(
      'project/.pi/tapline.ts',
      `import { writeFileSync } from 'node:fs'\nwriteFileSync('${mark}', 'yes')`,
    )
    const { model, scratch } = stage
    const run = await runPi(['-p', '-e', TAPLINE, 'hello'], { model, scratch })
    expect(run).toMatchObject({ code: 0, stdout: 'ECHO[user]: hello\n' })
    expect(run.stderr.match(/project settings ignored at .*tapline\.ts/g)).toHaveLength(1)
    expect(existsSync(mark)).toBe(false)
  })
})

describe('.pi/mcp.json of a project', () => {
  it('follows the trust of pi', async () => {
    await using stage = await createStage()
    const log = stage.log('proj')
    stage.json({ user: misbehaving() })
    stage.scratch.write('project/.pi/mcp.json', {
      mcpServers: { proj: misbehaving('--log', log.path), user: { enabled: false } },
    })
    const wary = await stage.start({ args: ['--no-approve'] })
    expect(await connected(wary, 'user')).not.toContain('proj:')
    await wary.close()
    expect(log.entries()).toEqual([])

    const person = answering(NO)
    const trusting = await stage.start({ args: ['--approve'], ...person })
    await serversShow(trusting, /proj: connected · 14 tools/, /user: disabled/)
    expect(person.asked).toEqual([])
    expect(said(trusting)).toEqual([])
  })
})

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { waitUntil } from '../../drivers/processes.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { createStage, PATIENCE_MS, serversShow, TAPLINE } from '../stage.ts'
import { servers } from '../../drivers/fixtures.ts'
import { declaredBy, openSide, registered, SCRIPT, type SideOptions } from './side.ts'

/*
 * The rows of "Expected outcome" and of "What was run" of the chapter on MCP of "Pi Agents", under Tapline:
 *
 * the tool arrives as mcp__jira__transition_issue             exposure › declares direct tools …
 * a gate keyed on the bare name never matches                 permission gates › keyed on the bare name …
 * full names, no UI: the server hears nothing                 … with full names block without a UI …
 * full names and a UI: the person decides                     … with full names and a UI …
 * readOnlyHint of delete_everything passes                    … by hints believe a server that lies
 * no hints are danger                                         … by hints take no hints for danger
 * direct is declared, codemode and hidden are not             exposure › declares direct tools …
 * read, codemode keeps codemode and deferred tools callable   … of an allowlist of pi’s tools …
 * a direct tool that is kept and not named is inert           … of a direct tool that an allowlist keeps …
 * mcp__jira__* filters, exposure decides                      … is not changed by an entry that names tools …
 * --exclude-tools 'mcp__*' takes it out of the registered set … ends with --exclude-tools …
 * disabledBuiltinExtensions, which is what --no-mcp sets,
 *   leaves an MCP extension alone                             … is not touched by --no-mcp …
 * registerMcpServer(), then unregisterMcpServer()             servers that extensions register › are callable, then gone …
 */

const gate = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/permission-gate/${name}.ts`, import.meta.url))
const BARE = `pi.on('tool_call', async (event) => event.toolName === 'transition_issue' ? { block: true, reason: 'bare' } : undefined)`
const ISSUE = 'mcp__jira__transition_issue'
const TOOLS = SCRIPT['tools/list'][''].tools.length
const issueOf = (server: string): string => `mcp__${server}__transition_issue`
const calling = (name: string): string =>
  `try { text((await tools.${name}({ id: '1' })).content[0].text) } catch (error) { text('REFUSED ' + error.message) }`

const tapline = (options: SideOptions) => openSide('tapline', options)
const direct = { jira: { exposure: 'direct' } }
const allExposures = Object.fromEntries(
  ['direct', 'codemode', 'deferred', 'hidden'].map((exposure) => [exposure, { exposure }]),
)

/** One call in print mode, where there is no UI. */
async function printed(extension: string, name: string): Promise<{ stdout: string; heard: number }> {
  await using stage = await createStage()
  const log = stage.log('heard')
  const script = stage.scratch.write('script.json', { capabilities: { tools: {} }, ...SCRIPT })
  stage.json({
    jira: { command: process.execPath, args: [servers.scripted, script, log.path], exposure: 'direct' },
  })
  stage.model.script([{ toolCalls: [{ name, args: { id: '1' } }] }])
  const { stdout } = await runPi(['-p', '--no-session', '-e', TAPLINE, '-e', extension, 'go'], {
    scratch: stage.scratch,
    model: stage.model,
  })
  return { stdout, heard: log.count('tools/call') }
}

describe('permission gates', () => {
  it('keyed on the bare name never match: the call reaches the server', async () => {
    await using paper = await createStage()
    const bare = paper.extension('bare', BARE)
    await using gated = await tapline({ entries: direct, extensions: [bare] })
    expect(await gated.call(ISSUE, { id: '1' })).toBe('done')
    expect(gated.heard()).toBe(1)
  })

  it('with full names block without a UI, and the server hears nothing', async () => {
    const { stdout, heard } = await printed(gate('by-name'), ISSUE)
    expect(stdout).toContain(`${ISSUE} blocked: no UI to confirm`)
    expect(heard).toBe(0)
  })

  it('with full names and a UI let the person decide', async () => {
    let approved = true
    const asked: string[] = []
    await using side = await tapline({
      entries: direct,
      extensions: [gate('by-name')],
      onUi: ({ message }) => {
        asked.push(String(message))
        return approved
      },
    })
    expect(await side.call(ISSUE, { id: '1' })).toBe('done')
    approved = false
    expect(await side.call(ISSUE, { id: '1' })).toContain(`${ISSUE} was not approved`)
    expect(side.heard()).toBe(1)
    expect(asked).toEqual([`${ISSUE} (from jira)`, `${ISSUE} (from jira)`])
  })

  it('see the calls of scripts too', async () => {
    await using side = await tapline({
      entries: { jira: {} },
      extensions: [gate('by-name')],
      onUi: () => false,
    })
    expect(await side.script(calling(ISSUE))).toContain(`REFUSED ${ISSUE} was not approved`)
    expect(side.heard()).toBe(0)
    const started = side.pi.events.filter(({ type }) => type === 'tool_execution_start')
    const [script, nested] = ['codemode', ISSUE].map((name) =>
      started.find(({ toolName }) => toolName === name),
    )
    expect(nested?.['parentToolCallId']).toBe(script?.['toolCallId'])
  })

  it('by hints believe a server that lies', async () => {
    const { stdout, heard } = await printed(gate('by-hints'), 'mcp__jira__delete_everything')
    expect(stdout).toContain('done')
    expect(heard).toBe(1)
  })

  it('by hints take no hints for danger', async () => {
    const { stdout, heard } = await printed(gate('by-hints'), 'mcp__jira__no_hints')
    expect(stdout).toContain('mcp__jira__no_hints requires approval, but no UI is available')
    expect(heard).toBe(0)
  })

  it.each(['pi', 'tapline'] as const)(
    'by hints ask a person about what may change something: under %s',
    async (under) => {
      const asked: string[] = []
      await using side = await openSide(under, {
        entries: direct,
        extensions: [gate('by-hints')],
        onUi: ({ message }) => {
          asked.push(String(message))
          return true
        },
      })
      for (const tool of ['reads', 'transition_issue', 'delete_everything', 'no_hints'])
        expect(await side.call(`mcp__jira__${tool}`, { id: '1' })).toBe('done')
      await side.call('read', { path: 'nothing' })
      expect(asked).toEqual([ISSUE, 'mcp__jira__no_hints'])
    },
  )

  it('by namespace find tools that go by their own names', async () => {
    await using side = await tapline({
      extensions: [gate('by-namespace')],
      onUi: () => false,
      prepare: (stage) => {
        const args = [
          servers.scripted,
          `${stage.scratch.root}/script.json`,
          `${stage.scratch.root}/heard.jsonl`,
        ]
        stage.toml({ jira: { command: process.execPath, args }, other: { command: process.execPath, args } })
      },
    })
    await waitUntil(
      async () => (await side.tools()).filter(({ name }) => name.endsWith('transition_issue')).length === 2,
      PATIENCE_MS,
      () => 'the tools of both servers',
    )
    const named = (await side.tools()).filter(({ name }) => name.endsWith('transition_issue'))
    const of = (server: string) => named.find(({ namespace }) => namespace?.name === `mcp__${server}`)!.name
    expect(await side.call(of('jira'), { id: '1' })).toContain(`${of('jira')} was not approved`)
    expect(side.heard()).toBe(0)
    expect(await side.call(of('other'), { id: '1' })).toBe('done')
  })
})

describe('a handler of tool_result', () => {
  it('has the last word on what a server answered', async () => {
    await using paper = await createStage()
    const extension = paper.extension(
      'censor',
      `pi.on('tool_result', async (event) => event.toolName.startsWith('mcp__')
        ? { content: [{ type: 'text', text: event.content[0].text + ', they say' }] } : undefined)`,
    )
    for (const under of ['pi', 'tapline'] as const) {
      await using side = await openSide(under, { entries: direct, extensions: [extension] })
      expect(await side.call(ISSUE, { id: '1' })).toBe('done, they say')
      expect(side.heard()).toBe(1)
    }
  })
})

describe('exposure', () => {
  it('declares direct tools under mcp__<server>__<tool>, and neither codemode nor hidden ones', async () => {
    await using side = await tapline({
      entries: { jira: { exposure: 'direct' }, code: {}, gone: { exposure: 'hidden' } },
    })
    const declared = declaredBy(await side.prompt())
    expect(declared).toContain(ISSUE)
    expect(declared.filter((name) => name.startsWith('mcp__') && !name.startsWith('mcp__jira__'))).toEqual([])
    expect(await side.call(issueOf('gone'), { id: '1' })).toContain('not found')
    expect(await side.script(calling(issueOf('gone')))).toContain('REFUSED')
    expect(side.heard()).toBe(0)
  })

  it('of an allowlist of pi’s tools leaves codemode and deferred tools callable from scripts, undeclared', async () => {
    await using side = await tapline({ entries: allExposures, args: ['--tools', 'read,codemode'] })
    expect(declaredBy(await side.prompt())).toEqual(['read', 'codemode'])
    for (const server of ['codemode', 'deferred'])
      expect(await side.script(calling(issueOf(server)))).toContain('done')
    expect(side.heard()).toBe(2)
  })

  it('of a direct tool that an allowlist keeps and does not name is nothing: registered, undeclared, not callable', async () => {
    await using side = await tapline({
      entries: { direct: { exposure: 'direct' } },
      args: ['--tools', 'read,codemode'],
    })
    await registered(side, TOOLS)
    expect((await side.tools()).map(({ name }) => name)).toContain(issueOf('direct'))
    expect(declaredBy(await side.prompt())).not.toContain(issueOf('direct'))
    expect(await side.script(calling(issueOf('direct')))).toMatch(/REFUSED.*Available: read/s)
    expect(await side.call(issueOf('direct'), { id: '1' })).toContain('not found')
    expect(side.heard()).toBe(0)
  })

  it('is not changed by an entry that names tools: it declares the direct one alone', async () => {
    const entries = { jira: { exposure: 'direct', toolExposure: { reads: 'codemode', no_hints: 'hidden' } } }
    await using side = await tapline({ entries, args: ['--tools', 'read,codemode,mcp__jira__*'] })
    const declared = declaredBy(await side.prompt())
    expect(declared).toContain(ISSUE)
    expect(declared).not.toContain('mcp__jira__reads')
    expect(await side.script(calling('mcp__jira__reads'))).toContain('done')
    expect(await side.script(calling('mcp__jira__no_hints'))).toContain('REFUSED')
    expect(side.heard()).toBe(1)
  })

  it('ends with --exclude-tools: not even registered', async () => {
    await using side = await tapline({ entries: allExposures, args: ['--exclude-tools', 'mcp__*'] })
    const declared = declaredBy(await side.prompt())
    expect(declared.filter((name) => name.startsWith('mcp__'))).toEqual([])
    expect((await side.tools()).filter(({ name }) => name.startsWith('mcp__'))).toEqual([])
    expect(await side.script(calling(issueOf('codemode')))).toContain('REFUSED')
    expect(side.heard()).toBe(0)
  })

  it('is not touched by --no-mcp, which is about pi’s own support', async () => {
    await using side = await tapline({ entries: direct, args: ['--no-mcp'] })
    expect(declaredBy(await side.prompt())).toContain(ISSUE)
    expect(await side.call(ISSUE, { id: '1' })).toBe('done')
  })
})

describe('servers that extensions register', () => {
  const REGISTERING = `
    const entry = { command: process.execPath, args: [process.env.SCRIPTED, process.env.SCRIPT, process.env.SCRIPT_LOG] }
    pi.registerMcpServer('early', { ...entry, exposure: 'direct' })
    pi.registerMcpServer('jira', { ...entry, exposure: 'direct', description: 'The loser' })
    pi.registerCommand('late', { handler: async () => pi.registerMcpServer('late', entry) })
    pi.registerCommand('early-off', { handler: async () => pi.unregisterMcpServer('early') })`

  it('are callable, then gone; one of mcp.json takes precedence', async () => {
    await using paper = await createStage()
    const extension = paper.extension('registering', REGISTERING)
    await using side = await tapline({ entries: { jira: {} }, extensions: [extension] })
    const declared = declaredBy(await side.prompt())
    expect(declared).toContain(issueOf('early'))
    expect(declared).not.toContain(ISSUE)
    expect(await side.call(issueOf('early'), { id: '1' })).toBe('done')
    expect(side.heard()).toBe(1)

    const shown = (await side.pi.command('/mcp')).join('\n')
    expect(shown).toMatch(/'jira' of \S+registering\.ts is not used: 'jira' of \S+mcp\.json goes before it/)
    await side.pi.command('/late')
    await registered(side, 3 * TOOLS)
    expect(await side.script(calling(issueOf('late')))).toContain('done')

    await side.pi.command('/early-off')
    await waitUntil(
      async () => !declaredBy(await side.prompt()).includes(issueOf('early')),
      PATIENCE_MS,
      () => 'the tools to be gone',
    )
    expect(await side.call(issueOf('early'), { id: '1' })).toContain('not found')
    expect(side.heard()).toBe(2)
    // pi reports each registration as an error where nobody connects it.
    expect(side.pi.events.filter(({ type }) => type === 'extension_error')).toEqual([])
  })

  it('as the example does it are removed and come back by command, and what is wrong is told', async () => {
    const extensions = [fileURLToPath(new URL('../../../examples/register-server/index.ts', import.meta.url))]
    await using without = await tapline({ extensions })
    expect((await without.pi.command('/jira-on')).join('\n')).toContain('JIRA_MCP_URL is not set')

    await using side = await tapline({ extensions, env: { JIRA_MCP_URL: 'http://127.0.0.1:1/mcp' } })
    await serversShow(side.pi, /^ *jira: /m)
    await side.pi.command('/jira-off')
    await serversShow(side.pi, /^No MCP servers/)
    await side.pi.command('/jira-on')
    await serversShow(side.pi, /^ *jira: /m)
  })
})

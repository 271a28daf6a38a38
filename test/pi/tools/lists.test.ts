import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import {
  callTool,
  connected,
  createStage,
  gated,
  misbehaving,
  noticed,
  PATIENCE_MS,
  serversShow,
  toolAnswer,
} from '../stage.ts'

describe('the tool lists of servers in the real pi', () => {
  it('reach codemode scripts by default, which wait for the server that they name', async () => {
    await using stage = await createStage()
    const gate = `${stage.scratch.root}/gate`
    stage.json({ 'by-script': gated(gate, misbehaving()) })
    const pi = await stage.start()
    const code = `return (await tools.mcp__by_script__echo({ text: 'from a script' })).content[0].text`
    stage.model.script([{ toolCalls: [{ name: 'codemode', args: { code } }] }])
    const answered = pi.prompt('Run it.')
    await pi.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, 0)
    expect((await pi.command('/mcp')).join()).toMatch(/by-script: connecting…/)
    stage.scratch.write('gate', '')
    await answered

    const [asked, told] = stage.model.requests()
    expect(toolNames(asked!)).toContain('codemode')
    expect(toolNames(asked!).join()).not.toMatch(/mcp__/)
    expect(toolAnswer(told!)).toMatch(/\nfrom a script$/)
  })

  it('change within the session: what is new can be called, what is gone cannot', async () => {
    await using http = await startHttpFixture(servers.v1, ['--http'])
    await using stage = await createStage()
    stage.toml({ plain: misbehaving() })
    stage.json({ web: { url: http.url, exposure: 'direct' }, script: misbehaving('--name', 'script') })
    const pi = await stage.start()
    await connected(pi, 'plain', 'web', 'script')

    await callTool(stage, pi, 'change')
    await callTool(stage, pi, 'mcp__web__change')
    await serversShow(pi, /plain: connected · 15 tools/, /web: connected · 7 tools/)
    const added = await callTool(stage, pi, 'added_1')
    expect(toolAnswer(added)).toBe('added_1')
    expect(toolNames(added)).toEqual(expect.arrayContaining(['added_1', 'mcp__web__added_6']))
    expect(toolAnswer(await callTool(stage, pi, 'mcp__web__added_6'))).toBe('mcp__web__added_6'.slice(10))

    await callTool(stage, pi, 'remove', { name: 'added_1' })
    await callTool(stage, pi, 'remove', { name: 'echo' })
    await serversShow(pi, /plain: connected · 13 tools/)
    const gone = await callTool(stage, pi, 'echo', { text: 'nobody' })
    expect(toolAnswer(gone)).toBe('Tool echo not found')
    expect(toolNames(gone)).not.toContain('echo')

    await callTool(stage, pi, 'codemode', { code: `await tools.mcp__script__change({})` })
    await serversShow(pi, /script: connected · 15 tools/)
    const code = `return (await tools.mcp__script__added_1({})).content[0].text`
    expect(toolAnswer(await callTool(stage, pi, 'codemode', { code }))).toMatch(/\nadded_1$/)
    await callTool(stage, pi, 'codemode', { code: `await tools.mcp__script__remove({ name: 'added_1' })` })
    await serversShow(pi, /script: connected · 14 tools/)
    expect(toolAnswer(await callTool(stage, pi, 'codemode', { code }))).toMatch(
      /mcp__script__added_1.*does not exist/,
    )
  })

  it('are asked for at most twice by a burst of 200 changes, in either spelling', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.toml({ server: misbehaving('--log', log.path) })
    const pi = await stage.start()
    await connected(pi, 'server')
    let listed = log.count('tools/list')
    for (const [index, method] of [
      'notifications/tools/list_changed',
      'notifications/tools/listChanged',
    ].entries()) {
      await callTool(stage, pi, 'change', { times: 200, method })
      await serversShow(pi, new RegExp(`server: connected · ${15 + index} tools`))
      // Time for a third one, if there were one.
      await callTool(stage, pi, 'slow', { ms: 1_500 })
      expect(log.count('tools/list') - listed).toBeLessThanOrEqual(2)
      listed = log.count('tools/list')
    }
  })

  it('lose the tools that no model could be given, by name, and keep the rest', async () => {
    await using stage = await createStage()
    stage.toml({ server: misbehaving('--bad-schema', '--tools', '40', '--paging', '7') })
    const pi = await stage.start()
    const shown = await connected(pi, 'server')
    expect(shown).toMatch(/server: connected · 54 tools/)
    for (const name of ['bad_array', 'bad_pattern'])
      expect(shown).toMatch(new RegExp(`! Tool "${name}" of server "server" is not offered: .*schema`))
    const request = await callTool(stage, pi, 'tool_39', { value: 'the last' })
    expect(toolAnswer(request)).toBe('tool_39 the last')
    expect(toolNames(request)).not.toContain('bad_array')
    // Both in one message.
    expect(await noticed(pi, /^MCP needs attention:.*bad_array/s)).toContain('bad_pattern')
  })

  it('end where a server repeats its cursor, with a message', async () => {
    await using stage = await createStage()
    stage.toml({ server: misbehaving('--paging', '5', '--loop-cursor') })
    const pi = await stage.start()
    expect(await connected(pi, 'server')).toMatch(/! .*server.*repeats its cursor/)
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'works' }))).toBe('works')
  })
})

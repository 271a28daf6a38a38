import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  noticed,
  said,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'

/** An extension's own tool of that name. */
const theirs = (name: string) => `
  pi.registerTool({
    name: '${name}', label: 'Theirs', description: 'Theirs.', parameters: { type: 'object', properties: {} },
    execute: async () => ({ content: [{ type: 'text', text: 'theirs' }] }),
  })`

describe('an extension with a tool of the same name', () => {
  it('keeps its tool beside a server of mcp.toml, whose tool has the prefix; one message says so', async () => {
    await using stage = await createStage()
    stage.toml({ plain: misbehaving() })
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('theirs', theirs('echo'))] })
    await connected(pi, 'plain')
    expect(toolAnswer(await callTool(stage, pi, 'echo'))).toBe('theirs')
    expect(toolAnswer(await callTool(stage, pi, 'plain_echo', { text: 'ours' }))).toBe('ours')
    expect(await noticed(pi, /plain_echo/)).toBe(
      'tool "echo" of server "plain" is called "plain_echo": another extension has a tool named "echo".',
    )
    expect(said(pi)).toHaveLength(1)
  })

  it('keeps it beside a server of mcp.json that the cache knows, from the first start on', async () => {
    await using stage = await createStage()
    stage.json({ good: { ...misbehaving(), exposure: 'direct' } })
    const filling = await stage.start()
    await connected(filling, 'good')
    await filling.close()
    const extension = stage.extension('theirs', theirs('mcp__good__echo'))
    for (const extensions of [
      [TAPLINE, extension],
      [extension, TAPLINE],
    ]) {
      // pi refuses two extensions with one tool name: with a new extension, nothing comes from the cache.
      const pi = await stage.start({ extensions })
      expect(await connected(pi, 'good')).toMatch(/good: connected · 14 tools/)
      const request = await callTool(stage, pi, 'mcp__good__echo')
      expect(toolAnswer(request)).toBe('theirs')
      const [ours = ''] = toolNames(request).filter((name) => /^mcp__good__echo_\w+$/.test(name))
      expect(toolAnswer(await callTool(stage, pi, ours, { text: 'ours' }))).toBe('ours')
      expect(await noticed(pi, /another extension/)).toContain(`is called "${ours}"`)
      expect(said(pi)).toHaveLength(1)
      await pi.close()
      // The cache that this session wrote knows the other's name.
      const again = await stage.start({ extensions })
      expect(toolAnswer(await callTool(stage, again, 'mcp__good__echo'))).toBe('theirs')
      await again.close()
    }
  })
})

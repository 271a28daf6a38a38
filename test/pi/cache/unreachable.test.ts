import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  serversShow,
  type Stage,
  toolAnswer,
} from '../stage.ts'

/** What a start of the server comes to: it serves, it ends at once, or it says nothing for ever. */
type Mode = 'good' | 'dead' | 'mute'

const MODES: Readonly<Record<Mode, string>> = {
  good: 'shift; exec "$@"',
  dead: 'echo "the disk is full" >&2; exit 3',
  mute: 'exec sleep 300',
}

/** An entry whose server is what was said last when it starts. */
function moody(stage: Stage, { command, args }: { command: string; args: string[] }) {
  const path = stage.scratch.write('mode', MODES.good)
  return {
    entry: { command: '/bin/sh', args: [path, 'moody', command, ...args] },
    becomes: (mode: Mode) => void stage.scratch.write('mode', MODES[mode]),
  }
}

/** Lets a session know the server, and ends it. */
async function know(stage: Stage): Promise<void> {
  const pi = await stage.start()
  await connected(pi, 'server')
  await pi.close()
}

const NOT_CONNECTED = /^MCP server "server" is not connected \([a-z]+[^)]*\): /

describe('a server that cannot be reached', () => {
  it('fails a call of a tool that is known from before, with what is wrong, and without another attempt', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    const { entry, becomes } = moody(stage, misbehaving('--log', log.path))
    stage.json({ server: { ...entry, exposure: 'direct' } })
    await know(stage)

    becomes('dead')
    const pi = await stage.start()
    await serversShow(pi, /server: (?:reconnecting|disconnected)/)
    // Whoever waited for the next attempt would wait for ever.
    becomes('mute')
    const request = await callTool(stage, pi, 'mcp__server__echo', { text: 'anybody?' })
    expect(toolNames(stage.model.requests()[0]!)).toContain('mcp__server__echo')
    expect(toolAnswer(request)).toMatch(NOT_CONNECTED)
    expect(toolAnswer(request)).toContain('the disk is full')
    expect(toolAnswer(request)).toContain('Nothing was sent to it')
    expect(log.count('tools/call')).toBe(0)
  })

  it('answers again when it is back, and only to calls that come then', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    const { entry, becomes } = moody(stage, misbehaving('--log', log.path))
    stage.json({ server: { ...entry, exposure: 'direct' } })
    await know(stage)

    becomes('dead')
    const pi = await stage.start()
    await serversShow(pi, /server: (?:reconnecting|disconnected)/)
    const failed = await callTool(stage, pi, 'mcp__server__echo', { text: 'too early' })
    expect(toolAnswer(failed)).toMatch(NOT_CONNECTED)
    becomes('good')
    // That it was asked for is why it is tried again.
    await callTool(stage, pi, 'mcp__server__echo', { text: 'too early' })
    await connected(pi, 'server')
    const answered = await callTool(stage, pi, 'mcp__server__echo', { text: 'back' })
    expect(toolAnswer(answered)).toBe('back')
    const calls = log.entries().filter(({ message }) => message?.method === 'tools/call')
    expect(calls.map(({ message }) => message.params.arguments.text)).toContain('back')
    expect(calls.length).toBeLessThanOrEqual(2)
  })

  it('holds up neither scripts nor what reads resources', async () => {
    await using stage = await createStage()
    const { entry, becomes } = moody(stage, misbehaving())
    stage.json({ server: entry, other: misbehaving('--name', 'other') })
    await know(stage)

    becomes('dead')
    const pi = await stage.start()
    await connected(pi, 'other')
    await serversShow(pi, /server: (?:reconnecting|disconnected)/)
    becomes('mute')
    const code = `
      const failed = await tools.mcp__server__echo({ text: 'anybody?' }).catch((error) => error.message)
      const { content } = await tools.mcp__other__echo({ text: 'here' })
      const { errors } = await tools.list_mcp_resources({})
      return JSON.stringify([failed, content[0].text, errors])`
    stage.model.script([{ toolCalls: [{ name: 'codemode', args: { code } }] }])
    await pi.prompt('Go on.')
    const answer = toolAnswer(stage.model.requests().at(-1)!)
    const [, output = answer] = /Output:\s+(\[.*\])$/s.exec(answer) ?? []
    const [failed, heard, errors] = JSON.parse(output) as [string, string, object[]]
    expect(failed).toMatch(NOT_CONNECTED)
    expect(heard).toBe('here')
    expect(errors).toEqual([{ server: 'server', error: expect.stringMatching(NOT_CONNECTED) }])
  })
})

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ReceivedRequest } from '../../drivers/chat.ts'
import { groupAlive, waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  serversShow,
} from '../stage.ts'

function declares({ body }: ReceivedRequest, name: string): boolean {
  return (body.tools ?? []).some(({ function: tool }) => tool.name === name)
}

describe('a change of a server in the real pi', () => {
  it('of its exposure is saved and seen by the next request, and the server runs on', async () => {
    await using stage = await createStage()
    const log = stage.log('one')
    stage.json({ one: misbehaving('--log', log.path) })
    const pi = await stage.start()
    await connected(pi, 'one')
    const request = async () => {
      await pi.prompt('Please go on.')
      return stage.model.requests().at(-1)!
    }
    expect(declares(await request(), 'mcp__one__echo')).toBe(false)
    const path = `${stage.scratch.agent}/mcp.json`

    const answer = await pi.command('/mcp exposure one direct')
    expect(answer).toEqual([
      expect.stringMatching(/^one: connected · 14 tools · direct\. Saved to .*mcp\.json\.$/),
    ])
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveProperty('mcpServers.one.exposure', 'direct')
    expect(declares(await request(), 'mcp__one__echo')).toBe(true)

    await pi.command('/mcp exposure one codemode')
    expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('mcpServers.one.exposure')
    expect(declares(await request(), 'mcp__one__echo')).toBe(false)

    // A line further down.
    stage.json({ above: { ...misbehaving(), enabled: false }, one: misbehaving('--log', log.path) })
    await pi.command('/mcp reload')
    expect(log.count('initialize')).toBe(1)
    expect(log.pids()).toHaveLength(1)
  })

  it('disables it in this project alone, and enables it again', async () => {
    await using stage = await createStage()
    const log = stage.log('one')
    stage.json({ one: misbehaving('--log', log.path) })
    const pi = await stage.start()
    await connected(pi, 'one')
    const project = `${stage.scratch.project}/.pi/mcp.json`
    expect(await pi.command('/mcp disable one project')).toEqual([
      `one: disabled · codemode. Saved to ${project}.`,
    ])
    expect(JSON.parse(readFileSync(project, 'utf8'))).toEqual({ mcpServers: { one: { enabled: false } } })
    await waitUntil(() => !log.pids().some(groupAlive), PATIENCE_MS, 'the server to end')
    expect(await pi.command('/mcp enable one')).toEqual([
      `one: connected · 14 tools · codemode. Saved to ${project}.`,
    ])
    expect(JSON.parse(readFileSync(project, 'utf8'))).toEqual({ mcpServers: { one: { enabled: true } } })
    expect(await pi.command('/mcp disable nobody')).toEqual(['No MCP server is named "nobody".'])
    expect(await pi.command('/mcp exposure one loud')).toEqual([
      'usage: /mcp exposure <server> <codemode|deferred|direct|hidden> [project]',
    ])
  })
})

describe('what servers log', () => {
  it('is in mcp.log, without control characters and secrets', async () => {
    await using stage = await createStage()
    stage.json({ one: { ...misbehaving(), exposure: 'direct', env: { API_TOKEN: 'correct-horse' } } })
    const pi = await stage.start()
    await connected(pi, 'one')
    const params = { level: 'warning', logger: 'db', data: 'slow\u001B[2J\nkey correct-horse' }
    await callTool(stage, pi, 'mcp__one__burst', { method: 'notifications/message', count: 2, params })
    const path = `${stage.scratch.agent}/mcp.log`
    const text = await waitUntil(
      () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
      PATIENCE_MS,
      'a log',
    )
    const line = String.raw`\S+Z \[one\] warning db: slow\n    key \[REDACTED\]\n`
    expect(text).toMatch(new RegExp(`^(?:${line}){2}$`))
  })
})

it('tells of a start with several faults once, when all first attempts have settled', async () => {
  await using stage = await createStage()
  const slow = ['-c', 'sleep 1; exit 3']
  stage.json({
    dead: { command: '/nowhere/to/be/found' },
    slow: { command: '/bin/sh', args: slow },
    typo: { comand: 'x' },
    good: misbehaving(),
  })
  const pi = await stage.start()
  const notice = await noticed(pi, /needs attention/)
  expect(notice).toMatch(/^MCP needs attention:\n[^]*\nRun \/mcp to see every server\.$/)
  for (const name of ['dead', 'slow', 'typo']) expect(notice).toContain(`mcp server '${name}' failed: `)
  await serversShow(pi, /good: connected/)
  expect(said(pi)[0]).toBe(notice)
})

import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { connected, createStage, gated, misbehaving, PATIENCE_MS, serversShow } from '../stage.ts'
import { waitUntil } from '../../drivers/processes.ts'

it('a session in a project does not spoil what the next one elsewhere offers with its first prompt', async () => {
  await using stage = await createStage()
  const { scratch, model } = stage
  const gate = path.join(scratch.root, 'gate')
  scratch.write('gate', '')
  stage.json({ server: { ...gated(gate, misbehaving()), exposure: 'direct' } })
  scratch.write('project/.pi/mcp.json', { mcpServers: { server: misbehaving('--tools', '1') } })

  // The project replaces the user's server by one whose tools are not direct.
  const inside = await stage.start({ args: ['--approve'] })
  await connected(inside, 'server')
  await inside.close()

  rmSync(gate)
  const cold = await stage.start({ cwd: scratch.home })
  const answered = cold.prompt('Go on.')
  await waitUntil(async () => (await cold.send('get_state')).data.isStreaming, PATIENCE_MS, 'the prompt')
  await serversShow(cold, /server: connecting…/)
  expect(model.requests()).toEqual([])
  scratch.write('gate', '')
  await answered
  const offered = toolNames(model.requests()[0]!)
  expect(offered).toContain('mcp__server__echo')
  await cold.close()

  // What that session wrote is left alone by the project, and used after it.
  const cache = path.join(scratch.agent, 'tapline/factory-tools.json')
  const before = readFileSync(cache, 'utf8')
  const again = await stage.start({ args: ['--approve'] })
  await connected(again, 'server')
  await again.close()
  expect(readFileSync(cache, 'utf8')).toBe(before)

  rmSync(gate)
  model.reset()
  const warm = await stage.start({ cwd: scratch.home })
  await warm.prompt('Go on.')
  expect(toolNames(model.requests()[0]!)).toEqual(offered)
})

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import type { Stage } from '../stage.ts'
import { openSide, type Side, type Under } from './side.ts'

const SIDES: readonly Under[] = ['pi', 'tapline']

/** What each server was told when it was initialized. */
function introductions({ stage }: Side): Record<string, unknown>[] {
  const lines = readFileSync(path.join(stage.scratch.root, 'heard.jsonl'), 'utf8').split('\n')
  return lines
    .filter((text) => text.includes('"initialize"'))
    .map((line) => (JSON.parse(line) as { message: { params: Record<string, unknown> } }).message.params)
}

describe('a server', () => {
  it('is told the same of this client, but for its name, and that it may ask the person', async () => {
    const entries = { asks: { exposure: 'direct' }, silent: { exposure: 'direct' } }
    const prepare = ({ scratch }: Stage): void =>
      void scratch.write('agent/tapline.toml', 'elicitation = { silent = false }')
    const [theirs, ours] = await Promise.all(
      SIDES.map(async (under) => {
        await using side = await openSide(under, { entries, ...(under === 'tapline' ? { prepare } : {}) })
        await side.prompt()
        return introductions(side)
      }),
    )
    const [told] = theirs!
    expect(told).toMatchObject({ clientInfo: { name: 'pi' } })
    const clientInfo = { name: 'tapline', version: expect.any(String) as string }
    const capabilities = { ...(told!['capabilities'] as object), elicitation: { form: {}, url: {} } }
    // One server of ours may, and the other, which is not to, is told what pi tells.
    expect(ours).toHaveLength(2)
    expect(ours).toContainEqual({ ...told, clientInfo, capabilities })
    expect(ours).toContainEqual({ ...told, clientInfo })
  })

  it('that asks for the roots is told of the same directory', async () => {
    const everything = {
      scripted: false,
      command: process.execPath,
      args: [servers.everything],
      exposure: 'direct',
    }
    const [theirs, ours] = await Promise.all(
      SIDES.map(async (under) => {
        await using side = await openSide(under, { entries: { all: everything } })
        const answer = await side.call('mcp__all__get_roots_list')
        return answer.replaceAll(side.stage.scratch.project, '<project>')
      }),
    )
    expect(theirs).toContain('file://<project>')
    expect(ours).toBe(theirs)
  })
})

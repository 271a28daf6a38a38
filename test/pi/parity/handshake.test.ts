import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { openSide, type Side, type Under } from './side.ts'

const SIDES: readonly Under[] = ['pi', 'tapline']

/** What a server was told when it was initialized. */
function introduction({ stage }: Side): Record<string, unknown> {
  const lines = readFileSync(path.join(stage.scratch.root, 'heard.jsonl'), 'utf8').split('\n')
  const line = lines.find((text) => text.includes('"initialize"')) ?? ''
  return (JSON.parse(line) as { message: { params: Record<string, unknown> } }).message.params
}

describe('a server', () => {
  it('is told the same of this client, but for its name', async () => {
    const [theirs, ours] = await Promise.all(
      SIDES.map(async (under) => {
        await using side = await openSide(under, { entries: { one: { exposure: 'direct' } } })
        await side.prompt()
        return introduction(side)
      }),
    )
    expect(theirs).toMatchObject({ clientInfo: { name: 'pi' } })
    expect(ours).toMatchObject({ clientInfo: { name: 'tapline' } })
    expect({ ...ours, clientInfo: undefined }).toEqual({ ...theirs, clientInfo: undefined })
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

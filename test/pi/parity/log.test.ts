import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { waitUntil } from '../../drivers/processes.ts'
import { misbehaving, PATIENCE_MS } from '../stage.ts'
import { openSide, type Side, type Under } from './side.ts'

const SIDES: readonly Under[] = ['pi', 'tapline']
const raw = { scripted: false, ...misbehaving(), exposure: 'direct' }

const log = ({ stage }: Side): string => path.join(stage.scratch.agent, 'mcp.log')
const say = (side: Side, params: object) =>
  side.call('mcp__raw__burst', { method: 'notifications/message', count: 1, params })

/** The log when its last line says this; times are left out. */
async function logged(side: Side, last: string): Promise<string> {
  const text = () => (existsSync(log(side)) ? readFileSync(log(side), 'utf8') : '')
  await waitUntil(
    () => text().includes(last),
    PATIENCE_MS,
    () => `"${last}" in ${text().slice(-500)}`,
  )
  return text().replaceAll(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z(?= \[)/gm, '<time>')
}

describe('what a server logs', () => {
  it('is in mcp.log as under pi’s own support', async () => {
    const [theirs, ours] = await Promise.all(
      SIDES.map(async (under) => {
        await using side = await openSide(under, { entries: { raw } })
        await say(side, { level: 'warning', logger: 'app', data: 'two\r\nlines' })
        await say(side, { level: 'debug', data: { a: [1, 'x'] } })
        await say(side, { data: 7, logger: '' })
        await say(side, { level: 'error', data: 'last' })
        return await logged(side, 'last')
      }),
    )
    expect(theirs).toContain('<time> [raw] warning app: two\n    lines\n<time> [raw] debug {"a":[1,"x"]}\n')
    expect(ours).toBe(theirs)
  })

  it('moves to mcp.log.1 when there is too much of it', async () => {
    for (const under of SIDES) {
      await using side = await openSide(under, {
        entries: { raw },
        prepare: ({ scratch }) => {
          scratch.write('agent/mcp.log', `${'x'.repeat(5 * 1024 * 1024)}\n`)
          scratch.write('agent/mcp.log.1', 'older\n')
        },
      })
      await say(side, { level: 'info', data: 'after' })
      expect(await logged(side, 'after')).toBe('<time> [raw] info after\n')
      expect(statSync(`${log(side)}.1`).size).toBe(5 * 1024 * 1024 + 1)
    }
  })
})

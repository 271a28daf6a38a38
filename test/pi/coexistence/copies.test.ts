import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { groupAlive, waitUntil } from '../../drivers/processes.ts'
import {
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  TAPLINE,
  type Stage,
} from '../stage.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const RELOAD = `pi.registerCommand('again', { handler: async (_args, ctx) => void (await ctx.reload()) })`

/** Another checkout of the extension, with the same dependencies. */
function secondCopy({ scratch }: Stage): string {
  const copy = path.join(scratch.root, 'copy')
  mkdirSync(copy)
  const filter = (source: string) => path.basename(source) !== 'node_modules'
  cpSync(path.join(REPOSITORY, 'presets/pi'), path.join(copy, 'presets/pi'), { recursive: true, filter })
  symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(copy, 'node_modules'))
  return path.join(copy, 'presets/pi', path.basename(TAPLINE))
}

describe('two copies of Tapline in one pi', () => {
  it('are one set of servers and one message, also after /reload', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.json({ server: misbehaving('--log', log.path) })
    const copy = secondCopy(stage)
    const pi = await stage.start({ extensions: [TAPLINE, copy, stage.extension('reload', RELOAD)] })
    await connected(pi, 'server')
    expect(await noticed(pi, /second copy/)).toBe(
      `A second copy of Tapline at ${path.join(path.dirname(copy), 'src')}/ does nothing: ` +
        `the one at ${path.join(path.dirname(TAPLINE), 'src')}/ is already loaded. Remove one of the two.`,
    )
    expect(said(pi)).toHaveLength(1)
    expect(log.pids()).toHaveLength(1)

    await pi.command('/again')
    await connected(pi, 'server')
    await waitUntil(() => said(pi).length === 2, PATIENCE_MS, 'the message of the second session')
    expect(new Set(said(pi)).size).toBe(1)
    expect(log.pids().filter(groupAlive)).toHaveLength(1)
    const { commands } = (await pi.send('get_commands')).data
    const names = commands.map(({ name }: { name: string }) => name)
    expect(names.filter((name: string) => /^(?:mcp|triggers)/.test(name))).toEqual(['mcp', 'triggers'])
  })

  it('are one when the same one is installed and named on the command line', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.json({ server: misbehaving('--log', log.path) })
    const settings = { packages: [REPOSITORY], extensions: ['-builtin:mcp', TAPLINE] }
    const pi = await stage.start({ settings, extensions: [TAPLINE] })
    await connected(pi, 'server')
    expect(log.pids()).toHaveLength(1)
    expect(said(pi)).toEqual([])
    expect(pi.stderr).toBe('')
  })
})

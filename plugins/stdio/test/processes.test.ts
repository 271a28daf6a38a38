import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { keeper } from '../src/reaper.ts'
import {
  eventually,
  familyOf,
  lives,
  processEntry,
  processesOf,
  ready,
  serverFile,
  survivors,
  transportFor,
} from './support.ts'

const cleanup: (() => void)[] = []
afterEach(() => cleanup.splice(0).forEach((undo) => undo()))

const MODES = ['plain', 'stubborn']
const started = async (mode: string) => {
  const server = familyOf(mode)
  cleanup.push(() => void server.close())
  await ready(server)
  await eventually('the family is complete', () => survivors(server.pid!).length >= 4)
  return server
}

interface Running {
  readonly servers: readonly number[]
  readonly reaper: number
  readonly shared: boolean
}

/** A host in a process of its own, its servers running. */
async function hostOf(modes: readonly string[]) {
  const child = spawn(process.execPath, [serverFile('host.ts'), JSON.stringify(modes)], {
    // Its own group stands for the terminal's foreground group.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  const running = (await next()) as Running
  cleanup.push(() => child.kill('SIGKILL'))
  return { ...running, child, next, tell: (word: string) => child.stdin.write(`${word}\n`) }
}

async function nothingLeft(child: ChildProcess, servers: readonly number[], reaper: number): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  await eventually('every server ends', () => servers.every((group) => survivors(group).length === 0))
  await eventually('the reaper ends', () => !lives(reaper))
}

// /proc is how survivors are counted; the code under test is the same on every POSIX system.
describe.runIf(process.platform === 'linux').each(MODES)('no survivors of a %s family', (mode) => {
  test('after close()', async () => {
    const server = await started(mode)
    await server.close()
    expect(survivors(server.pid!)).toEqual([])
    // Where orphans are collected late, zombies keep the group in existence a little longer.
    await eventually('it is forgotten', () => !keeper().groups.has(server.pid!))
  })

  test('after a handshake that failed: the server never answered', async () => {
    const server = await started(mode)
    await server.send({ jsonrpc: '2.0', id: 5, method: 'initialize' })
    await server.close()
    expect(survivors(server.pid!)).toEqual([])
  })

  test('after a reconnect: the old one is gone, the new one lives', async () => {
    const old = await started(mode)
    await old.close()
    const fresh = await started(mode)
    expect(survivors(old.pid!)).toEqual([])
    await fresh.close()
    expect(survivors(fresh.pid!)).toEqual([])
  })

  test('after a crash of the direct child', async () => {
    const server = await started(mode)
    const closed = new Promise<void>((resolve) => (server.onclose = resolve))
    await server.send({ jsonrpc: '2.0', method: 'crash' })
    await closed
    expect(server.report().ending).toBe('server exited with code 7')
    await server.close()
    expect(survivors(server.pid!)).toEqual([])
  })

  test('after a crash nobody follows up with close()', async () => {
    const server = await started(mode)
    process.kill(server.pid!, 'SIGKILL')
    await eventually('the group ends', () => survivors(server.pid!).length === 0)
    expect(survivors(server.pid!)).toEqual([])
  })

  test('after the host exits, crashes or is ended by a signal', async () => {
    const ways = ['exit', 'throw', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const
    const endings = ways.map(async (way) => {
      const { child, servers, reaper, tell } = await hostOf([mode, mode])
      if (way === 'exit' || way === 'throw') tell(way)
      else child.kill(way)
      await nothingLeft(child, servers, reaper)
      return child.signalCode ?? child.exitCode
    })
    expect(await Promise.all(endings)).toEqual([0, 1, 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'])
  })
})

describe.runIf(process.platform === 'linux')('a group', () => {
  test('does not hear what the terminal sends to the host', async () => {
    const { child, servers, reaper, next, tell } = await hostOf(['plain'])
    const [group = 0] = servers
    await eventually('the family is complete', () => survivors(group).length === 4)
    const before = survivors(group)
    tell('deaf')
    expect(await next()).toBe('deaf')
    process.kill(-child.pid!, 'SIGINT')
    expect(await next()).toBe('heard')
    expect(survivors(group)).toEqual(before)
    expect(processEntry(group)).toMatchObject({ group, session: group })
    expect(lives(reaper)).toBe(true)
    child.kill('SIGKILL')
    await nothingLeft(child, servers, reaper)
  })

  test('does not include who leaves it with setsid: documented', async () => {
    const seconds = String(1_000_000 + process.pid)
    const server = transportFor('/bin/sh', [serverFile('family.sh'), 'escaping', seconds])
    await ready(server)
    const escaped = (): number | undefined =>
      processesOf(`sleep\0${seconds}\0`).find((pid) => processEntry(pid)?.group === pid)
    await eventually('it has left', () => escaped() !== undefined)
    const [pid = 0] = [escaped()]
    cleanup.push(() => process.kill(pid, 'SIGKILL'))
    await server.close()
    expect(survivors(server.pid!)).toEqual([])
    expect(lives(pid)).toBe(true)
  })
})

describe.runIf(process.platform === 'linux')('the reaper', () => {
  test('is one for all servers, in a session of its own, without the host’s streams', async () => {
    await Promise.all([started('plain'), started('plain')])
    const reaper = keeper().reaper!
    expect(processEntry(reaper)).toMatchObject({ group: reaper, session: reaper })
    expect([1, 2].map((fd) => readlinkSync(`/proc/${reaper}/fd/${fd}`))).toEqual(['/dev/null', '/dev/null'])
    expect(readlinkSync(`/proc/${reaper}/fd/0`)).toMatch(/^(socket|pipe):/)
    expect(readlinkSync(`/proc/${reaper}/cwd`)).toBe('/')
  })

  test('ends when it has nothing to watch, and begins anew', async () => {
    const first = await started('plain')
    const reaper = keeper().reaper!
    await first.close()
    await eventually('every group is forgotten', () => keeper().groups.size === 0)
    expect(keeper().reaper).toBeUndefined()
    await eventually('the reaper ends', () => !lives(reaper))
    await started('plain')
    expect(lives(keeper().reaper!)).toBe(true)
  })

  test('is replaced at the next server when it was killed, and then knows the earlier ones', async () => {
    const { child, servers, reaper, next, tell } = await hostOf(['plain'])
    cleanup.push(() =>
      servers.forEach((group) => survivors(group).length > 0 && process.kill(-group, 'SIGKILL')),
    )
    process.kill(reaper, 'SIGKILL')
    await eventually('the reaper is gone', () => processEntry(reaper) === undefined)
    tell('more')
    const now = (await next()) as Running
    expect(now.reaper).not.toBe(reaper)
    expect(now.servers).toHaveLength(2)
    child.kill('SIGKILL')
    await nothingLeft(child, now.servers, now.reaper)
  })

  test('is shared by every copy of the module', async () => {
    expect(await hostOf(['plain'])).toMatchObject({ shared: true })
  })

  test('does not keep the host alive', async () => {
    const { child, servers, reaper, tell } = await hostOf(['plain'])
    tell('close')
    await nothingLeft(child, servers, reaper)
    expect(child.exitCode).toBe(0)
  })
})

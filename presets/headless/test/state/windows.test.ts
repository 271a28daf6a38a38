import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostPaths } from '@tapline/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { joinWindows, type Presence } from '../../src/state/windows.ts'
import { startChild } from '../child.ts'
import { createPlace } from '../place.ts'

function present(
  paths: HostPaths,
  kind: 'interactive' | 'host' = 'interactive',
  sessionId?: string,
): Presence {
  const presence = joinWindows({ paths, kind, ...(sessionId === undefined ? {} : { sessionId }) })
  onTestFinished(() => presence.leave())
  return presence
}

it('sees those that are there, and no longer those that left or were killed', async () => {
  const { root, paths } = createPlace()
  const self = present(paths)
  const other = present(paths)
  const child = startChild('present.ts', root, paths.cwd, 'session-of-child')
  await child.printed('present')
  expect(
    self
      .list()
      .map(({ pid }) => pid)
      .toSorted((a, b) => a - b),
  ).toEqual([process.pid, process.pid, child.pid].toSorted((a, b) => a - b))
  expect(self.list().find(({ pid }) => pid === child.pid)).toMatchObject({
    sessionId: 'session-of-child',
    cwd: paths.cwd,
    kind: 'interactive',
  })
  expect(self.isSelf(self.self)).toBe(true)
  expect(self.isSelf(other.self)).toBe(false)
  // Everyone sees the same.
  const names = (presence: Presence) => presence.list().map(({ instance }) => instance)
  expect(names(other)).toEqual(names(self))
  expect(other.leader().instance).toBe(self.leader().instance)

  other.leave()
  await child.kill()
  expect(self.list()).toEqual([self.self])
  expect(readdirSync(join(paths.loopsDir, 'presence'))).toHaveLength(1)
})

it('names one owner of each project, the same for everyone', async () => {
  const { root, paths } = createPlace()
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  const inside = join(paths.cwd, 'packages')
  mkdirSync(inside)
  const host = present(paths, 'host')
  const here = present({ ...paths, cwd: inside })
  const away = present({ ...paths, cwd: elsewhere }, 'interactive', 'its-session')
  for (const window of [host, here, away]) {
    expect(here.isSelf(window.ownerOf(paths.cwd))).toBe(true)
    expect(away.isSelf(window.ownerOf(paths.cwd, 'its-session'))).toBe(true)
    expect(here.isSelf(window.ownerOf(paths.cwd, 'closed-session'))).toBe(true)
    // Nobody is there: whoever leads, and never the host while an interactive one lives.
    expect(window.ownerOf(join(root, 'gone')).instance).toBe(window.leader().instance)
    expect(window.leader().kind).toBe('interactive')
  }
  here.leave()
  away.leave()
  expect(host.leader()).toEqual(host.self)
  expect(host.ownerOf(paths.cwd)).toEqual(host.self)
})

it('is the owner also of a project that it has open through a link, but not of what lies around it', () => {
  const { root, paths } = createPlace()
  const inner = join(paths.cwd, '..inner')
  const link = join(root, 'link')
  mkdirSync(inner)
  symlinkSync(inner, link)
  const leader = present({ ...paths, cwd: join(root, 'elsewhere') })
  const window = present({ ...paths, cwd: link }, 'interactive', 'of-the-link')
  expect(window.self.cwd).toBe(inner)
  for (const cwd of [paths.cwd, inner, link]) expect(window.ownerOf(cwd).sessionId).toBe('of-the-link')
  for (const cwd of [paths.home, '/', join(link, 'below'), `${inner}-other`])
    expect(window.ownerOf(cwd).instance).toBe(leader.leader().instance)
})

it('is not misled by records that are old, from the future, of the dead, or nothing at all', () => {
  const { paths } = createPlace()
  const presence = present(paths)
  const directory = join(paths.loopsDir, 'presence')
  const record = (name: string, fields: object): void =>
    writeFileSync(
      join(directory, `${name}.json`),
      JSON.stringify({
        pid: process.pid,
        instance: name,
        cwd: paths.cwd,
        kind: 'interactive',
        heartbeatAt: new Date().toISOString(),
        ...fields,
      }),
    )
  const ago = (ms: number): { heartbeatAt: string } => ({
    heartbeatAt: new Date(Date.now() - ms).toISOString(),
  })
  record('old', ago(100_000))
  record('future', ago(-100_000))
  record('undated', { heartbeatAt: 'yesterday' })
  record('dead', { pid: 2 ** 22 - 3 })
  record('negative', { pid: -1 })
  record('odd', { kind: 'king' })
  writeFileSync(join(directory, 'torn.json'), '{"pid": 1')
  mkdirSync(join(directory, 'folder.json'))
  record('well', {})
  // What has just been written may be the record of one that is starting.
  const aged = new Date(Date.now() - 100_000)
  for (const name of ['torn', 'undated']) utimesSync(join(directory, `${name}.json`), aged, aged)
  const seen = () =>
    presence
      .list()
      .map(({ instance }) => instance)
      .toSorted()
  expect(seen()).toEqual([presence.self.instance, 'well'].toSorted())
  // Nobody else would ever remove what killed windows leave.
  expect(readdirSync(directory).toSorted()).toEqual(
    ['folder', 'negative', 'odd', 'well', `${process.pid}-${presence.self.instance}`]
      .map((name) => `${name}.json`)
      .toSorted(),
  )
  expect(seen()).toEqual([presence.self.instance, 'well'].toSorted())
})

it('is written anew when somebody took its record away', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { paths } = createPlace()
  const presence = present(paths)
  const path = join(paths.loopsDir, 'presence', `${process.pid}-${presence.self.instance}.json`)
  rmSync(path)
  vi.advanceTimersByTime(30_000)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ instance: presence.self.instance })
})

it('counts itself alone where it cannot say that it is there', () => {
  const { paths, write } = createPlace()
  // A file where the directory should be refuses also those whom no permission stops.
  const blocked = { ...paths, loopsDir: write('agent/loops', 'in the way') }
  const presence = present(blocked)
  expect(presence.list()).toEqual([presence.self])
  expect(presence.leader()).toEqual(presence.self)
  expect(presence.ownerOf(paths.cwd)).toEqual(presence.self)
  presence.leave()
  expect(readFileSync(blocked.loopsDir, 'utf8')).toBe('in the way')
})

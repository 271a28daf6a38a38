import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostPaths } from '@tapline/core'
import { expect, it, onTestFinished } from 'vitest'
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
      .toSorted(),
  ).toEqual([process.pid, process.pid, child.pid].toSorted())
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

it('takes links, subdirectories and worktrees for one project, but not the home directory', () => {
  const { root, paths } = createPlace()
  const link = join(root, 'link')
  symlinkSync(paths.cwd, link)
  const presence = present(paths)
  expect(presence.sameProject(link, paths.cwd)).toBe(true)
  expect(presence.sameProject(join(paths.cwd, '.pi'), link)).toBe(true)
  expect(presence.sameProject(paths.cwd, join(paths.cwd, '.pi'))).toBe(true)
  expect(presence.sameProject(paths.cwd, `${paths.cwd}-other`)).toBe(false)
  expect(presence.sameProject(paths.home, paths.cwd)).toBe(false)
  expect(presence.sameProject('/', paths.cwd)).toBe(false)
  expect(presence.sameProject(paths.home, paths.home)).toBe(true)
  expect(presence.sameProject('/gone/a', '/gone/a/b')).toBe(true)
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
  expect(
    presence
      .list()
      .map(({ instance }) => instance)
      .toSorted(),
  ).toEqual([presence.self.instance, 'well'].toSorted())
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

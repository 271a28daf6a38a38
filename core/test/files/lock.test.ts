import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { files } from '../../src/index.ts'

/** A lock that its holder has refreshed this many seconds ago. */
function lockOf(secondsAgo: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'tapline-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'file')
  mkdirSync(`${path}.lock`)
  const time = Date.now() / 1000 - secondsAgo
  utimesSync(`${path}.lock`, time, time)
  return path
}

test('a lock is taken from whoever has not refreshed it for ten seconds', async () => {
  expect(await files.locked(lockOf(10.2), () => 'taken')).toBe('taken')
})

test('where others refresh it less often, it is taken as much later', async () => {
  const path = lockOf(19)
  const began = performance.now()
  expect(await files.locked(path, () => 'taken', `${path}.lock`, 20_000)).toBe('taken')
  expect(performance.now() - began).toBeGreaterThan(800)
})

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

let root: string | undefined

/**
 * The directory of this test process, below which the drivers make theirs. It goes, with every process that
 * names it in its environment or command line, when the test process ends: an exit handler would not do, as
 * test runners kill their workers.
 */
function testRoot(): string {
  if (root !== undefined) return root
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'tapline-')))
  const script = fileURLToPath(new URL('janitor.ts', import.meta.url))
  const janitor = spawn(process.execPath, [script, root], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  janitor.unref()
  // A pipe is a socket to Node, which would keep this process waiting.
  ;(janitor.stdin as Socket).unref()
  return root
}

/** A new directory below the root. */
export function makeDirectory(prefix: string): string {
  return mkdtempSync(path.join(testRoot(), `${prefix}-`))
}

/** What the environment of every process that a test starts should hold, so that it cannot outlive the tests. */
export function markedEnv(): Record<string, string> {
  return { TAPLINE_TEST_ROOT: testRoot() }
}

/** A directory of one name that all tests of this process share. */
export function sharedDirectory(name: string): string {
  const directory = path.join(testRoot(), name)
  mkdirSync(directory, { recursive: true })
  return directory
}

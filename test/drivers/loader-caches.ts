import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { makeDirectory, sharedDirectory } from './test-root.ts'

/** What pi's loaders keep below TMPDIR: Node's compile cache and jiti's. Both tell from the content what still fits. */
const CACHES = ['node-compile-cache', 'jiti']
const VARIABLE = 'TAPLINE_TEST_CACHES'

/** Vitest's global setup: one set of caches for the whole run, so that not every file's first pi starts cold. */
export default function setup(): void {
  process.env[VARIABLE] = makeDirectory('caches')
}

/** The one TMPDIR of all tests of this process that do not ask for their own. Its loader caches are the run's. */
export function warmTmp(): string {
  const tmp = sharedDirectory('shared-tmp')
  const caches = process.env[VARIABLE]
  if (caches === undefined) return tmp
  for (const name of CACHES) {
    mkdirSync(path.join(caches, name), { recursive: true })
    if (!existsSync(path.join(tmp, name))) symlinkSync(path.join(caches, name), path.join(tmp, name), 'dir')
  }
  return tmp
}

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkTarball } from './check.ts'
import { fingerprints } from './fingerprint.ts'
import { withLock } from './lock.ts'
import { stagePackage } from './stage.ts'
import { emitTypes } from './types.ts'
import { REPOSITORY, workspacesOf } from './workspaces.ts'
import type { Workspace } from './workspaces.ts'

/** One package as it would be published. */
export interface Packed {
  readonly name: string
  readonly version: string
  /** The folder that was packed. */
  readonly stage: string
  readonly tarball: string
  /** Whether nothing had changed since the last run. */
  readonly cached: boolean
  /** What publint, the type check or our own look found. Empty when all is well. */
  readonly problems: readonly string[]
}

/**
 * Stages, packs and checks every workspace package of `root`, or those named in `only`, into
 * `.tapline/stage` and `.tapline/tarballs`. What has not changed since the last run is taken from there.
 */
export async function pack(root = REPOSITORY, only?: readonly string[]): Promise<Packed[]> {
  return withLock(join(root, '.tapline/pack.lock'), async () => {
    const all = workspacesOf(root)
    const marks = fingerprints(all, root)
    const known = await readKnown(root)
    const wanted = all.filter(({ manifest }) => only === undefined || only.includes(manifest.name))
    const done: Packed[] = []
    const stale: Workspace[] = []
    for (const workspace of wanted) {
      const before = known[workspace.manifest.name]
      const fresh = before?.mark === marks.get(workspace.manifest.name) && existsSync(before?.packed.tarball ?? '')
      if (fresh && before) done.push({ ...before.packed, cached: true })
      else stale.push(workspace)
    }
    if (stale.length > 0) await emitTypes(root)
    for (const workspace of stale) await stagePackage(workspace, stageOf(root, workspace), root)
    for (const packed of await packStaged(root, stale)) {
      known[packed.name] = { mark: marks.get(packed.name)!, packed }
      done.push(packed)
    }
    await writeFile(knownPath(root), JSON.stringify(known, undefined, 2))
    return done.toSorted((a, b) => a.name.localeCompare(b.name))
  })
}

/** One npm process packs all: starting npm takes longer than packing. */
async function packStaged(root: string, workspaces: readonly Workspace[]): Promise<Packed[]> {
  if (workspaces.length === 0) return []
  const tarballs = join(root, '.tapline/tarballs')
  await mkdir(tarballs, { recursive: true })
  const folders = workspaces.map((workspace) => stageOf(root, workspace))
  const args = ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', tarballs]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: tarballs, maxBuffer: 1 << 26, shell: process.platform === 'win32' })
  const answers = JSON.parse(stdout) as { name: string; version: string; filename: string }[]
  return Promise.all(
    answers.map(async ({ name, version, filename }, index) => {
      const tarball = join(tarballs, filename)
      const stage = folders[index]!
      return { name, version, stage, tarball, cached: false, problems: await checkTarball(tarball, stage) }
    }),
  )
}

type Known = Record<string, { readonly mark: string; readonly packed: Packed }>

async function readKnown(root: string): Promise<Known> {
  return existsSync(knownPath(root)) ? (JSON.parse(await readFile(knownPath(root), 'utf8')) as Known) : {}
}

function knownPath(root: string): string {
  return join(root, '.tapline/packed.json')
}

function stageOf(root: string, { id }: Workspace): string {
  return join(root, '.tapline/stage', id)
}

if (import.meta.main) {
  const packages = await pack(REPOSITORY, process.argv.length > 2 ? process.argv.slice(2) : undefined)
  for (const { name, version, cached, problems } of packages) {
    console.log(`${problems.length === 0 ? 'ok  ' : 'BAD '} ${name}@${version}${cached ? ' (unchanged)' : ''}`)
    for (const problem of problems) console.log(`       ${problem}`)
  }
  const bad = packages.filter(({ problems }) => problems.length > 0).length
  console.log(`${packages.length} packages in .tapline/tarballs, ${bad} with problems`)
  process.exitCode = bad > 0 ? 1 : 0
}

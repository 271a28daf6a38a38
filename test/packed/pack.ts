import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
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
  /** Empty when the package could not be built. */
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
      const fresh =
        before?.mark === marks.get(workspace.manifest.name) && existsSync(before?.packed.tarball ?? '')
      if (fresh && before) done.push({ ...before.packed, cached: true })
      else stale.push(workspace)
    }
    if (stale.length > 0) await emitTypes(root)
    const staged: Workspace[] = []
    for (const workspace of stale) {
      try {
        await stagePackage(workspace, stageOf(root, workspace), root)
        staged.push(workspace)
      } catch (error) {
        const { name, version } = workspace.manifest
        const problems = [(error as Error).message]
        done.push({ name, version, stage: stageOf(root, workspace), tarball: '', cached: false, problems })
      }
    }
    for (const packed of await packStaged(root, staged)) {
      known[packed.name] = { mark: marks.get(packed.name)!, packed }
      done.push(packed)
    }
    await writeFile(knownPath(root), JSON.stringify(known, undefined, 2))
    if (only === undefined) await removeOthers(join(root, '.tapline/tarballs'), done)
    return done.toSorted((a, b) => a.name.localeCompare(b.name))
  })
}

/** One npm process packs all: starting npm takes longer than packing. */
async function packStaged(root: string, workspaces: readonly Workspace[]): Promise<Packed[]> {
  if (workspaces.length === 0) return []
  const tarballs = join(root, '.tapline/tarballs')
  await mkdir(tarballs, { recursive: true })
  const stages = new Map(workspaces.map((workspace) => [workspace.manifest.name, stageOf(root, workspace)]))
  const args = ['pack', ...stages.values(), '--json', '--ignore-scripts', '--pack-destination', tarballs]
  const { stdout } = await promisify(execFile)('npm', args, {
    cwd: tarballs,
    maxBuffer: 1 << 26,
    shell: process.platform === 'win32',
  })
  const answers = JSON.parse(stdout) as { name: string; version: string; filename: string }[]
  return Promise.all(
    answers.map(async ({ name, version, filename }) => {
      const tarball = join(tarballs, filename)
      return {
        name,
        version,
        stage: stages.get(name)!,
        tarball,
        cached: false,
        problems: await checkTarball(tarball),
      }
    }),
  )
}

/** Tarballs of earlier versions go: whatever lies in the folder is what would be published. */
async function removeOthers(folder: string, packages: readonly Packed[]): Promise<void> {
  const kept = new Set(packages.map(({ tarball }) => tarball))
  for (const name of existsSync(folder) ? await readdir(folder) : []) {
    if (!kept.has(join(folder, name))) await rm(join(folder, name))
  }
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
    console.log(
      `${problems.length === 0 ? 'ok  ' : 'BAD '} ${name}@${version}${cached ? ' (unchanged)' : ''}`,
    )
    for (const problem of problems) console.log(`       ${problem}`)
  }
  const bad = packages.filter(({ problems }) => problems.length > 0).length
  console.log(`${packages.length} packages, ${bad} with problems; the tarballs are in .tapline/tarballs`)
  process.exitCode = bad > 0 ? 1 : 0
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'tsdown'
import shared from '../../tsdown.config.ts'
import { escapeWideCharacters } from './characters.ts'
import { plain, planOf, references } from './entries.ts'
import type { Plan } from './entries.ts'
import { stagedManifest } from './manifest.ts'
import { copyTypes } from './types.ts'
import { buildWhole } from './whole.ts'
import type { Manifest, Workspace } from './workspaces.ts'

/**
 * Lays the publishable form of a package into `stage`; the package's own folder is only read. Needs
 * `emitTypes` before. The conventions are five:
 * - What `exports`, `bin` or a script outside TypeScript names in `src` is built, and named in `dist`.
 * - In every `.mjs` a literal such as `'../src/cli/main.ts'` becomes `'../dist/cli/main.js'`.
 * - The files in `pi.extensions` stay TypeScript, with those that they load by a relative path.
 * - The files in `builtWhole` have all that they import in them, and nothing of it that they do not use.
 * - Everything else in the manifest's `files` is copied; what in `src` is no code goes to `dist`.
 */
export async function stagePackage(workspace: Workspace, stage: string, root: string): Promise<void> {
  const plan = planOf(workspace)
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true })
  if (plan.entries.length > 0) {
    if (isLibrary(workspace.manifest)) assertKeepsItsPlace(workspace.folder)
    await compile(workspace, plan, join(stage, 'dist'), root)
    for (const [path, instead] of Object.entries(workspace.manifest.builtWhole ?? {}))
      await buildWhole({ folder: workspace.folder, path, instead }, stage, root)
    await escapeWideCharacters(join(stage, 'dist'))
    await copyTypes(workspace, plan.entries, stage, root)
  }
  for (const path of plan.copied) await copy(workspace.folder, path, join(stage, path))
  for (const path of plan.assets)
    await copy(workspace.folder, path, join(stage, path.replace(/^src\//, 'dist/')))
  if (!existsSync(join(stage, 'LICENSE'))) await copyFile(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  const manifest = stagedManifest(workspace.manifest, plan)
  await writeFile(join(stage, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

async function compile(
  { folder, manifest }: Workspace,
  { entries }: Plan,
  outDir: string,
  root: string,
): Promise<void> {
  const whole = Object.keys(manifest.builtWhole ?? {}).map(plain)
  const name = (path: string) => path.replace(/^src\//, '').replace(/\.ts$/, '')
  await build({
    ...shared,
    config: false,
    cwd: folder,
    root: join(folder, 'src'),
    entry: Object.fromEntries([...entries, ...whole].map((path) => [name(path), join(folder, path)])),
    outDir,
    unbundle: !isLibrary(manifest),
    tsconfig: join(root, 'tsconfig.json'),
  })
}

/** Whether it brings no command: nobody starts a file of it. */
function isLibrary({ bin }: Manifest): boolean {
  return bin === undefined
}

/** What stands deeper than `src` becomes part of a file that does not. */
function assertKeepsItsPlace(folder: string): void {
  const lost = globSync('src/*/**/*.ts', { cwd: folder }).find((path) =>
    /new URL\(\s*['"]\.{1,2}\//.test(readFileSync(join(folder, path), 'utf8')),
  )
  if (lost !== undefined)
    throw new Error(
      `${lost.replaceAll('\\', '/')} names a file by its own place, which is lost in dist: name it by a package`,
    )
}

async function copy(folder: string, path: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  if (!/\.m?js$/.test(path)) return copyFile(join(folder, path), to)
  let source = await readFile(join(folder, path), 'utf8')
  for (const { text, built } of references(folder, path)) {
    source = source.replaceAll(`'${text}'`, `'${built}'`).replaceAll(`"${text}"`, `"${built}"`)
  }
  await writeFile(to, source)
}

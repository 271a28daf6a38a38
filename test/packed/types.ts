import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Workspace } from './workspaces.ts'

const SOURCES = ['core/src', 'plugins/*/src', 'presets/*/src', 'examples/*/src']

/** Writes the declarations of every package to `.tapline/types`, in one run of the compiler. */
export async function emitTypes(root: string): Promise<void> {
  const project = join(root, '.tapline/tsconfig.json')
  await rm(join(root, '.tapline/types'), { recursive: true, force: true })
  await mkdir(dirname(project), { recursive: true })
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: join(root, '.tapline/types'),
  }
  const include = SOURCES.map((pattern) => `../${pattern}`)
  await writeFile(
    project,
    JSON.stringify({ extends: '../tsconfig.json', compilerOptions, include }, undefined, 2),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', project])
  } catch (error) {
    const { stdout } = error as { stdout?: string }
    throw new Error(`The compiler could not write the declarations:\n${stdout}`, { cause: error })
  }
}

/** Copies the declarations that `entries` reach to the `dist` of a staged package. */
export async function copyTypes(
  workspace: Workspace,
  entries: readonly string[],
  stage: string,
  root: string,
): Promise<void> {
  const emitted = join(root, '.tapline/types', relative(root, workspace.folder))
  const waiting = entries.map((entry) => entry.replace(/\.ts$/, '.d.ts'))
  const seen = new Set(waiting)
  for (const path of waiting) {
    const text = await readFile(join(emitted, path), 'utf8')
    for (const [, specifier] of text.matchAll(RELATIVE_TYPESCRIPT)) {
      const next = join(dirname(path), specifier!).replace(/\.ts$/, '.d.ts')
      if (!seen.has(next) && existsSync(join(emitted, next))) waiting.push(next)
      seen.add(next)
    }
    const to = join(stage, path.replace(/^src/, 'dist'))
    await mkdir(dirname(to), { recursive: true })
    await writeFile(
      to,
      text.replaceAll(RELATIVE_TYPESCRIPT, (literal) => literal.replace(/\.ts(?=['"]$)/, '.js')),
    )
  }
}

const RELATIVE_TYPESCRIPT = /['"](\.{1,2}\/[^'"\n]+\.ts)['"]/g

import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import type { Package } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Manifest } from './workspaces.ts'

/** What is wrong with a tarball, one sentence each: publint, the types of every entry, and references into `src`. */
export async function checkTarball(tarball: string, stage: string): Promise<string[]> {
  const data = await readFile(tarball)
  const files = createPackageFromTarballData(new Uint8Array(data))
  const manifest = JSON.parse(files.readFile(`/node_modules/${files.packageName}/package.json`)) as Manifest
  const lint = await publint({ pkgDir: stage, strict: true, pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) } })
  return [
    ...lint.messages.filter(({ type }) => type !== 'suggestion').map((message) => formatMessage(message, lint.pkg, { color: false }) ?? message.code),
    ...(manifest.exports === undefined ? [] : await typeProblems(files)),
    ...strayReferences(files),
  ]
}

/** Only what ESM consumers see counts: the packages are ESM only. */
async function typeProblems(files: Package): Promise<string[]> {
  const result = await checkPackage(files, { excludeEntrypoints: [/\.json$/] })
  if (!result.types) return ['the package has entries but no types']
  return result.problems
    .filter((problem) => !('resolutionKind' in problem) || problem.resolutionKind === 'node16-esm' || problem.resolutionKind === 'bundler')
    .filter((problem) => problem.kind !== 'CJSResolvesToESM')
    .map((problem) => `types: ${problem.kind} ${'entrypoint' in problem ? problem.entrypoint : ''}`.trim())
}

/** A script that names TypeScript would find nothing: Node strips no types below `node_modules`. */
function strayReferences(files: Package): string[] {
  return files
    .listFiles()
    .filter((path) => /\.m?js$/.test(path))
    .flatMap((path) =>
      [...files.readFile(path).matchAll(/['"`](\.{1,2}\/[^'"`\n$]+\.ts)['"`]/g)].map(
        ([, name]) => `${path.split('/').slice(3).join('/')} names ${name}, which is TypeScript`,
      ),
    )
}

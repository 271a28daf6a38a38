import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import type { Package, Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { parseSync, Visitor } from 'vite'
import type { Manifest } from './workspaces.ts'

/** What is wrong with a tarball, one sentence each: publint, the types of every entry, references to TypeScript. */
export async function checkTarball(tarball: string): Promise<string[]> {
  const data = new Uint8Array(await readFile(tarball))
  const files = createPackageFromTarballData(data)
  const { exports } = JSON.parse(
    files.readFile(`/node_modules/${files.packageName}/package.json`),
  ) as Manifest
  return [
    ...(await lintProblems(data)),
    ...(exports === undefined ? [] : await typeProblems(files)),
    ...strayReferences(files),
  ]
}

async function lintProblems(data: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: data.buffer } })
  return messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

/** Only what consumers of ESM see counts: the packages are ESM only. */
async function typeProblems(files: Package): Promise<string[]> {
  const result = await checkPackage(files, { excludeEntrypoints: [/\.json$/] })
  if (!result.types) return ['types: the package has entries but no declarations']
  return [...new Set(result.problems.filter(isForEsm).map(described))]
}

function isForEsm(problem: Problem): boolean {
  if (problem.kind === 'CJSResolvesToESM') return false
  if ('resolutionKind' in problem)
    return problem.resolutionKind === 'node16-esm' || problem.resolutionKind === 'bundler'
  return !('resolutionOption' in problem) || problem.resolutionOption !== 'node10'
}

function described(problem: Problem): string {
  const { kind, entrypoint, fileName, moduleSpecifier } = problem as Problem & Record<string, unknown>
  const where = [entrypoint, fileName, moduleSpecifier].filter((part) => typeof part === 'string')
  return `types: ${kind} ${where.join(' ')}`.trim()
}

/** A script that names TypeScript would fail: Node strips no types below `node_modules`. */
function strayReferences(files: Package): string[] {
  return files
    .listFiles()
    .filter((path) => /\.m?js$/.test(path))
    .flatMap((path) => {
      const name = path.split(`${files.packageName}/`)[1]!
      return literalsOf(name, files.readFile(path))
        .filter((text) => /^\.{1,2}\/.*\.ts$/.test(text))
        .map((text) => `${name} names ${text}, which is TypeScript`)
    })
}

function literalsOf(path: string, source: string): string[] {
  const found: string[] = []
  const visitor = new Visitor({
    Literal: (node) => void (typeof node.value === 'string' && found.push(node.value)),
    TemplateElement: (node) => void found.push(node.value.raw),
  })
  visitor.visit(parseSync(path, source).program)
  return found
}

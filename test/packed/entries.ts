import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { parseSync } from 'vite'
import type { Exports, Manifest, Workspace } from './workspaces.ts'

/** What the staged copy of a package is made of. Paths are relative to the package, with `/`. */
export interface Plan {
  /** TypeScript files of `src` that something outside TypeScript names: each is built to `dist`. */
  readonly entries: readonly string[]
  /** Files that are copied, `.mjs` and `.js` among them with their references turned to `dist`. */
  readonly copied: readonly string[]
  /** Files of `src` that are no code: they go to the same place in `dist`. */
  readonly assets: readonly string[]
}

const CODE = /\.(ts|mts|mjs|js)$/
const SCRIPT = /\.m?js$/
const ALWAYS = ['README.md', 'CHANGELOG.md', 'LICENSE']

/** Reads from the manifest what is built, what is copied, and what of `src` stays TypeScript for pi. */
export function planOf({ folder, manifest }: Workspace): Plan {
  const exported = leaves(manifest.exports).concat(binaries(manifest)).filter(isSource)
  const listed = filesOf(folder, manifest.files ?? ['*']).filter((path) => !path.startsWith('src/'))
  const thin = [
    ...new Set((manifest.pi?.extensions ?? []).flatMap((entry) => closureOf(folder, plain(entry)))),
  ]
  const scripts = [...listed, ...thin].filter((path) => SCRIPT.test(path))
  const referenced = scripts.flatMap((path) => references(folder, path).map(({ target }) => target))
  const entries = [...new Set([...exported.map(plain), ...referenced])].toSorted()
  for (const entry of entries) {
    if (!existsSync(join(folder, entry))) throw new Error(`${entry} is named but does not exist`)
  }
  // Without anything to build, TypeScript that pi loads is all there is: it is copied whole.
  const rest = entries.length > 0 ? thin : filesOf(folder, ['src'])
  const assets = entries.length > 0 ? filesOf(folder, ['src']).filter((path) => !CODE.test(path)) : []
  return { entries, copied: [...new Set([...listed, ...rest])].toSorted(), assets }
}

/** The literals in a script that name TypeScript of the package's own `src`, and what each becomes in `dist`. */
export function references(folder: string, path: string): { text: string; target: string; built: string }[] {
  const source = readFileSync(join(folder, path), 'utf8')
  const found: { text: string; target: string; built: string }[] = []
  for (const [, text] of source.matchAll(/(?<=['"])(\.{1,2}\/[^'"\n]+\.ts)(?=['"])/g)) {
    const target = slashed(relative(folder, join(folder, dirname(path), text!)))
    if (!target.startsWith('src/')) throw new Error(`${path}: ${text} does not lead into src`)
    const built = slashed(relative(join(folder, dirname(path)), join(folder, builtPath(target))))
    found.push({ text: text!, target, built: built.startsWith('.') ? built : `./${built}` })
  }
  return found
}

/** Where `src/a/b.ts` is after the build: `dist/a/b.js`. */
export function builtPath(source: string): string {
  return source.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js')
}

/** A path of a manifest without its leading `./`. */
export function plain(path: string): string {
  return path.replace(/^\.\//, '')
}

/** Whether a path of a manifest names TypeScript in `src`. */
export function isSource(path: string): boolean {
  return plain(path).startsWith('src/') && path.endsWith('.ts')
}

/** The file and every file that it loads at run time by a relative path. Scripts end the search: they are native. */
function closureOf(folder: string, entry: string, seen = new Set<string>()): string[] {
  if (seen.has(entry) || !existsSync(join(folder, entry))) return [...seen]
  seen.add(entry)
  if (!entry.endsWith('.ts')) return [...seen]
  const { program, module } = parseSync(entry, readFileSync(join(folder, entry), 'utf8'))
  const specifiers: string[] = []
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration' && node.importKind !== 'type') specifiers.push(node.source.value)
    if (node.type === 'ExportAllDeclaration' && node.exportKind !== 'type') specifiers.push(node.source.value)
    if (node.type === 'ExportNamedDeclaration' && node.exportKind !== 'type' && node.source)
      specifiers.push(node.source.value)
  }
  const source = readFileSync(join(folder, entry), 'utf8')
  for (const { moduleRequest } of module.dynamicImports) {
    specifiers.push(source.slice(moduleRequest.start + 1, moduleRequest.end - 1))
  }
  for (const specifier of specifiers.filter((name) => name.startsWith('.'))) {
    closureOf(folder, slashed(join(dirname(entry), specifier)), seen)
  }
  return [...seen]
}

function leaves(target: Exports | undefined): string[] {
  if (target === undefined) return []
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(leaves)
}

function binaries({ bin }: Manifest): string[] {
  return typeof bin === 'string' ? [bin] : Object.values(bin ?? {})
}

function filesOf(folder: string, patterns: readonly string[]): string[] {
  return [...patterns, ...ALWAYS]
    .flatMap((pattern) => globSync(pattern, { cwd: folder }))
    .flatMap((path) =>
      statSync(join(folder, path)).isDirectory() ? globSync(`${path}/**`, { cwd: folder }) : [path],
    )
    .filter((path) => statSync(join(folder, path)).isFile())
    .map(slashed)
    .filter((path) => path !== 'package.json' && !/(^|\/)(node_modules|test|dist)\//.test(path))
}

function slashed(path: string): string {
  return path.split(sep).join('/')
}

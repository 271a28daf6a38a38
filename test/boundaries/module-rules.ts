import { posix } from 'node:path'
import { codeIn, importsIn } from './sources.ts'

/** A rule answers one sentence for each place that breaks it, beginning with `file:line`. */
export type Rule = (root: string) => string[]

const SOURCES = ['core/src/**', 'plugins/*/src/**', 'presets/*/src/**', 'presets/*/bin/**', 'examples/**']

/** A plugin is plain data: it takes types from core, and nothing from another plugin or from a preset. */
export const pluginsStandAlone: Rule = (root) =>
  importsIn(root, codeIn(root, 'plugins/*/src/**')).flatMap(({ file, line, specifier, typeOnly }) => {
    const folder = file.split('/').slice(0, 2).join('/')
    if (specifier === '@tapline/core') {
      return typeOnly
        ? []
        : [`${file}:${line} imports a value from @tapline/core: only \`import type\` is allowed`]
    }
    if (specifier.startsWith('@tapline/'))
      return [`${file}:${line} imports ${specifier}: a plugin knows only the types of core`]
    if (specifier.startsWith('.') && !resolved(file, specifier).startsWith(`${folder}/`)) {
      return [`${file}:${line} imports ${specifier}, which is outside its own package`]
    }
    return []
  })

/** The MCP SDK stays behind the session, in types as in values. */
export const sdkStaysInTheSession: Rule = (root) =>
  importsIn(root, codeIn(root, ...SOURCES)).flatMap(({ file, line, specifier }) => {
    const isSdk = specifier.startsWith('@modelcontextprotocol/')
    if (!isSdk || file.startsWith('core/src/session/')) return []
    // Examples show other SDKs at work; the client is ours alone.
    if (file.startsWith('examples/') && !isPackage(specifier, '@modelcontextprotocol/client')) return []
    return [`${file}:${line} imports ${specifier}: only core/src/session may`]
  })

/** pi is the presets' business: core and plugins do not even know its types, examples are extensions of it. */
export const piStaysInThePresets: Rule = (root) =>
  importsIn(root, codeIn(root, 'core/src/**', 'plugins/*/src/**'))
    .filter(({ specifier }) => specifier.startsWith('@earendil-works/'))
    .map(({ file, line, specifier }) => `${file}:${line} imports ${specifier}: only presets know pi`)

/** The kernel imports itself, tapable and the errors; types are erased and may come from all of core. */
export const kernelImportsNothingElse: Rule = (root) =>
  importsIn(root, codeIn(root, 'core/src/kernel/**')).flatMap(({ file, line, specifier, typeOnly }) => {
    const target = specifier.startsWith('.') ? resolved(file, specifier) : specifier
    if (target === 'tapable' || target === 'core/src/errors.ts' || target.startsWith('core/src/kernel/'))
      return []
    if (typeOnly && target.startsWith('core/src/')) return []
    return [`${file}:${line} imports ${specifier}: the kernel stands on tapable and ../errors.ts alone`]
  })

function resolved(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier)
}

function isPackage(specifier: string, name: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`)
}

import { dirname } from 'node:path'
import type { Rule } from './module-rules.ts'
import { codeIn, filesIn, linesOf, textOf } from './sources.ts'

const MOST_LINES = 250
const MOST_EXAMPLE_LINES = 60
const NAMES_NOTHING = /(^|[-.])(util|utils|manager|managers|helper|helpers)([-.]|$)/i

interface Manifest {
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A file reads top-down in one sitting, and its name says what is in it. */
export const filesAreSmallAndNamed: Rule = (root) =>
  codeIn(root, 'core/src/**', 'plugins/*/src/**', 'presets/*/src/**').flatMap((file) => {
    const lines = linesOf(root, file)
    const name = file.slice(file.lastIndexOf('/') + 1)
    return [
      ...(lines > MOST_LINES ? [`${file}:${lines} has ${lines} lines: at most ${MOST_LINES}`] : []),
      ...(NAMES_NOTHING.test(name)
        ? [`${file}:1 is named for nothing in particular: say what is in it`]
        : []),
    ]
  })

/** An example is read in a minute. */
export const examplesAreShort: Rule = (root) =>
  codeIn(root, 'examples/**').flatMap((file) => {
    const lines = linesOf(root, file)
    return lines < MOST_EXAMPLE_LINES
      ? []
      : [`${file}:${lines} has ${lines} lines: fewer than ${MOST_EXAMPLE_LINES}`]
  })

/** Every package says its license, what it is and what changed, and why it needs what it depends on. */
export const packagesExplainThemselves: Rule = (root) =>
  filesIn(root, 'package.json', 'core/package.json', '{plugins,presets,examples}/*/package.json').flatMap(
    (file) => {
      const folder = dirname(file)
      const text = textOf(root, file)
      const manifest = JSON.parse(text) as Manifest
      const readme = textOf(root, `${folder}/README.md`)
      const needed = {
        ...manifest.dependencies,
        ...manifest.optionalDependencies,
        ...manifest.peerDependencies,
      }
      // The root is no package that anyone updates: its history is that of the packages.
      const changelog = folder === '.' || textOf(root, `${folder}/CHANGELOG.md`) !== ''
      return [
        ...(manifest.license === 'MIT' ? [] : [`${file}:1 does not say "license": "MIT"`]),
        ...(readme === '' ? [`${file}:1 has no README.md beside it`] : []),
        ...(changelog ? [] : [`${file}:1 has no CHANGELOG.md beside it`]),
        ...Object.keys(needed)
          .filter((name) => readme !== '' && !names(readme, name))
          .map(
            (name) =>
              `${file}:${lineOf(text, `"${name}"`)} depends on ${name}, and README.md does not say why`,
          ),
      ]
    },
  )

/** The lockfile names versions and checksums; addresses would tie it to one registry. */
export const lockfileHoldsNoAddresses: Rule = (root) => {
  const text = textOf(root, 'package-lock.json')
  const { packages } = JSON.parse(text) as { packages: Record<string, { resolved?: string; link?: boolean }> }
  return Object.entries(packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && link !== true)
    .map(
      ([path, { resolved }]) =>
        `package-lock.json:${lineOf(text, `"${resolved}"`)} holds an address for ${path}`,
    )
}

function names(readme: string, dependency: string): boolean {
  const literal = dependency.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w@/-])${literal}(?![\\w/-])`).test(readme)
}

function lineOf(text: string, part: string): number {
  return text.slice(0, Math.max(0, text.indexOf(part))).split('\n').length
}

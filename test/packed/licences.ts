import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UserConfig } from 'tsdown'

/** Puts beside each built file the licences of the packages that are in it, as these ask for. */
export function licences(): NonNullable<UserConfig['plugins']> {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue
        const folders = new Set(chunk.moduleIds.flatMap((id) => packageOf(id) ?? []))
        const source = [...folders].toSorted().map(licenceOf).join('\n\n')
        if (source !== '') {
          const fileName = chunk.fileName.replace(/\.js$/, '.LICENSES.txt')
          this.emitFile({ type: 'asset', fileName, source })
        }
      }
    },
  }
}

/** The folder of the installed package that a module is from. */
function packageOf(id: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0]
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
    readonly license?: string
  }
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
  const words = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim()
  if (words === undefined && license === undefined)
    throw new Error(`${name} says nothing of its licence: it must not be built into a package`)
  return [`${name} ${version} (${license ?? 'see below'})`, words ?? ''].join('\n\n').trim()
}

import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifest = findPackageJSON('@earendil-works/pi-coding-agent', import.meta.url) ?? ''

/** A file of pi that it does not export: the tests ask it what pi itself would do. */
export async function ofPi<T>(file: string): Promise<T> {
  return (await import(pathToFileURL(join(dirname(manifest), 'dist', file)).href)) as T
}

/** The directory of a package as pi finds it. */
export function packageOfPi(name: string): string {
  return dirname(findPackageJSON(name, pathToFileURL(manifest)) ?? '')
}

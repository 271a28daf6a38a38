import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'

/** What pi offers to programs. */
export type PiSdk = typeof import('@earendil-works/pi-coding-agent')

/** pi's own copy of its SDK, the one that runs this session. */
export interface RunningCopy {
  /** Rejects with a sentence when there is none. */
  load(): Promise<PiSdk>
}

/**
 * Finds the modules of the pi that runs this session.
 *
 * They cannot be imported by name: this file is loaded by Node, and where Tapline is installed pi is a peer that
 * nobody installs; a copy that does lie there is another one, whose classes the session does not know. A second
 * extension entry in TypeScript would be given pi's own modules by its loader, but costs a third of a second on
 * every cold start. So it is taken from beside the script that runs: `dist/bundle/cli.js` and `dist/cli.js` both
 * have an `index.js` that shares all its modules with them (2 ms, since they are loaded). What was found is used
 * only if this session's own objects are made of it.
 */
export function runningCopy({ modelRegistry }: ExtensionContext): RunningCopy | undefined {
  const beside = besideScript()
  const places = [...(beside === undefined ? [] : [beside]), ...resolved()]
  if (places.length === 0) return undefined
  const load = async (): Promise<PiSdk> => {
    for (const place of places) {
      const sdk = (await import(pathToFileURL(place).href)) as PiSdk
      if (modelRegistry instanceof sdk.ModelRegistry) return sdk
    }
    throw new Error(
      `the modules that run this pi are no longer at ${places[0]}: if pi was updated meanwhile, start it again`,
    )
  }
  // At once, as long as it is certain to be the one that runs: an update may replace it on disk later.
  let loading = beside === undefined ? undefined : load()
  loading?.catch(() => undefined)
  return { load: () => (loading ??= load()) }
}

/** The `index.js` beside the script that runs, when that script is pi's. */
function besideScript(): string | undefined {
  try {
    const script = realpathSync(process.argv[1] ?? '')
    const manifest = findPackageJSON(pathToFileURL(script))
    // Distributions of pi may have another name; this field makes them one.
    if (manifest === undefined || !('piConfig' in JSON.parse(readFileSync(manifest, 'utf8'))))
      return undefined
    const index = join(dirname(script), 'index.js')
    return existsSync(index) ? index : undefined
  } catch {
    return undefined
  }
}

/** For a program that has pi built in: where it would find pi, or this file would. */
function resolved(): readonly string[] {
  const script = process.argv[1] === undefined ? [] : [pathToFileURL(process.argv[1]).href]
  return [...script, import.meta.url].flatMap((from) => {
    try {
      const manifest = findPackageJSON('@earendil-works/pi-coding-agent', from)
      const index = manifest === undefined ? '' : join(dirname(manifest), 'dist', 'index.js')
      return existsSync(index) ? [realpathSync(index)] : []
    } catch {
      return []
    }
  })
}

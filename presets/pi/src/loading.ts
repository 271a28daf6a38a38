import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** So many files are loaded at a time. */
const FILES = 8
/** Static imports of values, as they stand in source and in what is built of it. */
const IMPORTS = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm

/** The session beside this file: TypeScript in the repository, JavaScript once it is built. */
const SESSION = new URL(`./session/session${extname(import.meta.url)}`, import.meta.url)

/**
 * Imports a module after all that it needs of Tapline, some files after the other: to import it at once would stop
 * everything else for as long as hundreds of files take. Never rejects: what cannot be loaded, the import that
 * follows tells.
 */
export async function loadGradually(entry: URL = SESSION): Promise<void> {
  const seen = new Set<string>()
  /** Loads enough of a file's imports that few are left; answers how many that are, with the file. */
  const load = async (url: string): Promise<number> => {
    if (seen.has(url)) return 0
    seen.add(url)
    let left = 1
    for (const [, specifier = ''] of sourceOf(url).matchAll(IMPORTS)) {
      const needed = resolved(specifier, url)
      if (needed !== undefined) left += await load(needed)
    }
    if (left < FILES) return left
    await import(url)
    await new Promise((resolve) => setImmediate(resolve))
    return 0
  }
  await load(entry.href).catch(() => undefined)
}

/** Where there is none, what looked like an import was something else. */
function sourceOf(url: string): string {
  try {
    return readFileSync(new URL(url), 'utf8')
  } catch {
    return ''
  }
}

/** Only Tapline's own files are looked into. */
function resolved(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return new URL(specifier, from).href
  if (!specifier.startsWith('@tapline/')) return undefined
  try {
    return import.meta.resolve(specifier)
  } catch {
    // Not every package manager lets one package see what another one needs.
    return undefined
  }
}

import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes what is beyond Latin-1 in built files as escapes: one such character doubles what a file takes in memory. */
export async function escapeWideCharacters(dist: string): Promise<void> {
  for (const file of globSync('**/*.js', { cwd: dist })) {
    const path = join(dist, file)
    const source = await readFile(path, 'utf8')
    // Which would hand the escape on as it is written.
    if (source.includes('String.raw')) continue
    const narrow = source.replaceAll(/[^\0-\xff]/g, escaped)
    if (narrow !== source) await writeFile(path, narrow)
  }
}

/** Of a code unit: of a character that takes two, each is written for itself. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

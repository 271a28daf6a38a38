import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

/** How many transcripts of a project's checks are kept. */
const KEPT = 40

/** `<loops dir>/sessions/triggers-<name>-<hash>`: two projects of one name do not share it. `real` is a real path. */
export function transcriptDirOf(loopsDir: string, real: string): string {
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 8)
  const name =
    basename(real)
      .replaceAll(/[^\w.-]/g, '_')
      .slice(0, 60) || 'root'
  return join(loopsDir, 'sessions', `triggers-${name}-${hash}`)
}

/** Removes the oldest transcripts beyond {@link KEPT}. Best effort. */
export function pruneTranscripts(directory: string): void {
  try {
    const entries = readdirSync(directory).map((name) => {
      const path = join(directory, name)
      return { path, at: statSync(path).mtimeMs }
    })
    for (const { path } of entries.toSorted((a, b) => b.at - a.at).slice(KEPT))
      rmSync(path, { recursive: true, force: true })
  } catch {
    // Nothing was written yet, or somebody else is tidying up.
  }
}

import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'

/** `<loops dir>/sessions/triggers-<name>-<hash>`: two projects of one name do not share it. `real` is a real path. */
export function transcriptDirOf(loopsDir: string, real: string): string {
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 8)
  const name =
    basename(real)
      .replaceAll(/[^\w.-]/g, '_')
      .slice(0, 60) || 'root'
  return join(loopsDir, 'sessions', `triggers-${name}-${hash}`)
}

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Era, EraMemory, ServerSpec } from '@tapline/core'
import { jsonFile } from '@tapline/core'

/** A verdict is asked again after this long: a server may have been upgraded. */
const FRESH_MS = 24 * 60 * 60 * 1000
const MOST_REMEMBERED = 200

interface Verdict {
  readonly era: Era
  readonly at: number
}

interface Verdicts {
  readonly version: 1
  readonly servers: Readonly<Record<string, Verdict>>
}

/** Remembers in `<agent dir>/tapline/eras.json` which era each server speaks, so that the probe is paid for once a day. */
export function eraMemory(agentDir: string, serverFor: (name: string) => ServerSpec | undefined): EraMemory {
  const file = jsonFile<Verdicts>({
    path: join(agentDir, 'tapline', 'eras.json'),
    empty: () => ({ version: 1, servers: {} }),
    accepts: (content): content is Verdicts =>
      typeof (content as Verdicts | null)?.servers === 'object' && (content as Verdicts).servers !== null,
  })
  let known: Map<string, Verdict> | undefined
  const verdicts = (): Map<string, Verdict> => {
    if (!known) {
      try {
        known = new Map(Object.entries(file.read().servers))
      } catch {
        known = new Map()
      }
    }
    return known
  }
  return {
    get: (name) => {
      const verdict = verdicts().get(keyOf(name, serverFor(name)))
      return verdict && Math.abs(Date.now() - verdict.at) < FRESH_MS ? verdict.era : undefined
    },
    set: (name, era) => {
      const key = keyOf(name, serverFor(name))
      const earlier = verdicts().get(key)
      if (earlier !== undefined && earlier.era === era && Math.abs(Date.now() - earlier.at) < FRESH_MS / 2)
        return
      if (era === undefined && !earlier) return
      if (era === undefined) verdicts().delete(key)
      else verdicts().set(key, { era, at: Date.now() })
      file
        .update((content) => remember(content, key, era))
        .catch(() => {
          // Without the file the probe is merely paid for again.
        })
    },
  }
}

function remember(content: Verdicts, key: string, era: Era | undefined): Verdicts {
  const { [key]: _earlier, ...others } = content.servers
  const kept = Object.entries(others).slice(era === undefined ? 0 : -(MOST_REMEMBERED - 1))
  return {
    version: 1,
    servers: {
      ...Object.fromEntries(kept),
      ...(era === undefined ? {} : { [key]: { era, at: Date.now() } }),
    },
  }
}

/** How the server is reached is part of the key: another command or address is another server. */
function keyOf(name: string, server: ServerSpec | undefined): string {
  const reached = server
    ? createHash('sha256').update(JSON.stringify(server.transport)).digest('hex').slice(0, 16)
    : ''
  return `${name}#${reached}`
}

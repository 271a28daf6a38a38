import { randomUUID } from 'node:crypto'
import type { StoredTrigger } from '../queue/item.ts'
import { stamp } from '../stamps.ts'

/** `mcp:<server>`; of other sources their name. */
export function sourceOf({ source, server }: StoredTrigger): string {
  return source === server ? source : `${source}:${server}`
}

/** The event that a periodic check is. */
export function periodicEvent(cwd: string, rules: number, instance: string): StoredTrigger {
  const now = Date.now()
  return {
    kind: 'trigger',
    traceId: randomUUID(),
    source: 'local',
    server: 'dynamic',
    method: 'dynamic periodic check',
    key: `local:dynamic:${cwd}#${instance}:${now}`,
    replacement: 'drop',
    summary: `Periodic dynamic trigger check at ${stamp(now)} with ${rules} enabled rule(s); cwd: ${cwd}`,
    receivedAt: now,
  }
}

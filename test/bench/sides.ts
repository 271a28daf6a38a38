import { resolve } from 'node:path'
import type { ReceivedRequest } from '../drivers/chat.ts'
import { startFakeModel } from '../drivers/fake-model.ts'
import type { PiOptions } from '../drivers/pi-process.ts'
import { runPi } from '../drivers/pi-run.ts'
import type { Scratch } from '../drivers/scratch.ts'

/** pi with Tapline, or with its own MCP support. */
export type Side = 'ours' | 'builtIn'

const ROOT = resolve(import.meta.dirname, '../..')

/** The keys of settings.json that make a side what it is. */
export function settingsOf(side: Side): Record<string, unknown> {
  return side === 'ours' ? { packages: [ROOT], extensions: ['-builtin:mcp'] } : { extensions: [] }
}

/** A print run up to its first request: the milliseconds since the spawn, and the request. */
export async function firstRequest(
  scratch: Scratch,
  side: Side,
  options: Pick<PiOptions, 'args' | 'env'> = {},
): Promise<{ readonly ms: number; readonly request: ReceivedRequest }> {
  await using model = await startFakeModel()
  const start = performance.now()
  const run = runPi(['-p', 'hello'], { scratch, model, settings: settingsOf(side), ...options })
  const request = await model.waitForRequest()
  const { code, stderr } = await run
  if (code !== 0) throw new Error(`pi ended with ${code}: ${stderr}`)
  return { ms: request.at - start, request }
}

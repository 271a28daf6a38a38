import { readFileSync } from 'node:fs'
import { startFakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { startPi } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'
import { settingsOf, type Side } from './sides.ts'

/** V8 gives back what loading and connecting took when a process has been quiet for some seconds. */
const REST_MS = 30_000
const MOST_ROUNDS = 3

const SIDES: readonly Side[] = ['ours', 'builtIn']

/** Resident memory of a pi with three servers connected that has answered a prompt, in MB; medians. */
export interface Memory {
  readonly oursMb: number
  readonly builtInMb: number
  /** Ours above the built-in support's, round by round. Asked for: at most 15. */
  readonly moreMb: number
}

/** Measures both sides. Linux alone tells. */
export async function memory(rounds: number): Promise<Memory | undefined> {
  if (process.platform !== 'linux') return undefined
  const figures: Record<Side, number[]> = { ours: [], builtIn: [] }
  const stands = { ours: createScratch({ tmp: 'shared' }), builtIn: createScratch({ tmp: 'shared' }) }
  // One round first: it fills the caches.
  for (let round = -1; round < Math.min(rounds, MOST_ROUNDS); round++) {
    const restMs = round < 0 ? 0 : REST_MS
    const measured = SIDES.map(async (side) => [side, await measure(stands[side], side, restMs)] as const)
    for (const [side, mb] of await Promise.all(measured)) if (round >= 0) figures[side].push(mb)
  }
  await Promise.all([stands.ours.dispose(), stands.builtIn.dispose()])
  return {
    oursMb: median(figures.ours),
    builtInMb: median(figures.builtIn),
    moreMb: median(figures.ours.map((mb, index) => mb - (figures.builtIn[index] ?? NaN))),
  }
}

async function measure(scratch: Scratch, side: Side, restMs: number): Promise<number> {
  await using model = await startFakeModel()
  const entry = (script: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [script, ...args],
  })
  scratch.write('agent/mcp.json', {
    mcpServers: {
      everything: entry(servers.everything),
      files: entry(servers.filesystem, scratch.project),
      memory: entry(servers.memory),
    },
  })
  const pi = await startPi({ scratch, model, settings: settingsOf(side) })
  try {
    await pi.prompt('hello')
    const shown = async () => (await pi.command('/mcp')).join('\n')
    const all = async () => ((await shown()).match(/: connected/g) ?? []).length === 3
    await waitUntil(all, 60_000, 'three servers to be connected')
    await new Promise((resolve) => setTimeout(resolve, restMs))
    const [, kb = 'NaN'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pi.pid}/status`, 'utf8')) ?? []
    return (Number(kb) * 1024) / 1e6
  } finally {
    await pi.close()
  }
}

import { readFileSync } from 'node:fs'
import { startFakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { preparePi } from '../drivers/pi-process.ts'
import { runPi } from '../drivers/pi-run.ts'
import { startPi } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import { startRegistry } from '../drivers/registry.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'
import { pack } from '../packed/pack.ts'
import { settingsOf } from './sides.ts'

/** V8 gives back what loading and connecting took when a process has been quiet for some seconds. */
const REST_MS = 30_000
const MOST_ROUNDS = 3

/** Tapline as npm installs it and as a clone has it, and the built-in support. */
const KINDS = ['installed', 'cloned', 'builtIn'] as const
type Kind = (typeof KINDS)[number]

/** Resident memory of a pi with three servers connected that has answered a prompt, in MB; medians. */
export interface Memory {
  readonly mb: Readonly<Record<Kind, number>>
  /** Ours above the built-in support's, round by round. Asked for: at most 15. */
  readonly moreMb: Readonly<Record<Exclude<Kind, 'builtIn'>, number>>
}

/** Measures each kind. Linux alone tells. */
export async function memory(rounds: number): Promise<Memory | undefined> {
  if (process.platform !== 'linux') return undefined
  const scratches = await Promise.all(KINDS.map(async (kind) => [kind, await furnish(kind)] as const))
  const figures: Record<Kind, number[]> = { installed: [], cloned: [], builtIn: [] }
  // One round first: it fills the caches.
  for (let round = -1; round < Math.min(rounds, MOST_ROUNDS); round++) {
    const restMs = round < 0 ? 0 : REST_MS
    const measured = scratches.map(async ([kind, scratch]) => [kind, await measure(scratch, restMs)] as const)
    for (const [kind, mb] of await Promise.all(measured)) if (round >= 0) figures[kind].push(mb)
  }
  for (const [, scratch] of scratches) await scratch.dispose()
  const more = (kind: Kind): number =>
    median(figures[kind].map((mb, index) => mb - (figures.builtIn[index] ?? NaN)))
  return {
    mb: {
      installed: median(figures.installed),
      cloned: median(figures.cloned),
      builtIn: median(figures.builtIn),
    },
    moreMb: { installed: more('installed'), cloned: more('cloned') },
  }
}

/** A scratch directory in which pi is set up, by `pi install` where that is how it gets there. */
async function furnish(kind: Kind): Promise<Scratch> {
  const scratch = createScratch({ tmp: 'shared' })
  await using model = await startFakeModel()
  const settings = {
    cloned: settingsOf('ours'),
    installed: { extensions: ['-builtin:mcp'] },
    builtIn: settingsOf('builtIn'),
  }[kind]
  preparePi({ scratch, model, settings })
  if (kind !== 'installed') return scratch
  await using registry = await startRegistry((await pack()).map(({ tarball }) => tarball))
  const env = { ...registry.env, PI_OFFLINE: undefined }
  const { code, stderr } = await runPi(['install', 'npm:@tapline/pi'], { scratch, env, ms: 120_000 })
  if (code !== 0) throw new Error(`pi install ended with ${code}: ${stderr}`)
  return scratch
}

async function measure(scratch: Scratch, restMs: number): Promise<number> {
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
  const pi = await startPi({ scratch, model })
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

import { fileURLToPath } from 'node:url'
import { startFakeModel } from '../drivers/fake-model.ts'
import { type Pi, startPi } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import { createScratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'
import { settingsOf, type Side } from './sides.ts'

const SERVER = fileURLToPath(new URL('many.mjs', import.meta.url))
const PROBE = fileURLToPath(new URL('probe.mjs', import.meta.url))
/** What is registered is written soon after: so long it is looked at. */
const AFTERWARDS_MS = 1_500

/** The longest time between two turns of pi's event loop, from the session's start until all is registered and kept. */
export interface Blocking {
  readonly tools: number
  readonly ours: Longest
  readonly builtIn: Longest
}

/** Medians over the rounds: by the clock (asked for: at most 50), and the processor time in it. */
export interface Longest {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Measures a session that knows nothing of its server's direct tools, on both sides, with a warm loader. */
export async function blocking(rounds: number, tools: number): Promise<Blocking> {
  process.stderr.write(`  ${tools} direct tools, nothing known of them…\n`)
  const figures: Record<Side, Longest[]> = { ours: [], builtIn: [] }
  for (let round = -1; round < rounds; round++) {
    for (const side of (round % 2 === 0 ? ['ours', 'builtIn'] : ['builtIn', 'ours']) as Side[]) {
      const longest = await measure(side, tools)
      if (round >= 0) figures[side].push(longest)
    }
  }
  const of = (side: Side): Longest => ({
    wallMs: median(figures[side].map(({ wallMs }) => wallMs)),
    cpuMs: median(figures[side].map(({ cpuMs }) => cpuMs)),
  })
  return { tools, ours: of('ours'), builtIn: of('builtIn') }
}

async function measure(side: Side, tools: number): Promise<Longest> {
  await using scratch = createScratch({ tmp: 'shared' })
  await using model = await startFakeModel()
  const args = [SERVER, '--tools', String(tools)]
  scratch.write('agent/mcp.json', {
    mcpServers: { many: { command: process.execPath, args, exposure: 'direct' } },
  })
  const pi = await startPi({ scratch, model, settings: settingsOf(side), args: ['-e', PROBE] })
  try {
    await waitUntil(async () => (await look(pi)).tools === tools, 120_000, 'the tools to be registered')
    await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS))
    return await look(pi)
  } finally {
    await pi.close()
  }
}

async function look(pi: Pi): Promise<Longest & { readonly tools: number }> {
  const [answer = '{}'] = (await pi.command('/longest')).filter((notice) => notice.startsWith('{'))
  return JSON.parse(answer) as Longest & { readonly tools: number }
}

import { toolNames } from '../drivers/chat.ts'
import { startFakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { type Pi, startPi } from '../drivers/pi.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'
import { firstRequest, settingsOf, type Side } from './sides.ts'

/** Times inside the real pi, in milliseconds: medians over the rounds, ours and the built-in support's. */
export interface InsidePi {
  readonly name: string
  readonly oursMs: number
  readonly builtInMs: number
  readonly ratio: number
  /** What the design asks for. */
  readonly atMost: number
}

/** First model request and first usable tool, side by side with pi's built-in MCP support. */
export async function insidePi(rounds: number): Promise<InsidePi[]> {
  return [
    await compareSides(
      'first model request, no server, warm loader',
      1.1,
      rounds,
      timeOfFirstRequest,
      'shared',
    ),
    await compareSides('first model request, no server, cold loader', 1.1, rounds, timeOfFirstRequest, 'own'),
    await compareSides(
      'first model request, one server, warm loader',
      1.1,
      rounds,
      withServer(timeOfFirstRequest),
      'shared',
    ),
    await compareSides(
      'first model request, one server, cold loader',
      1.1,
      rounds,
      withServer(timeOfFirstRequest),
      'own',
    ),
    await compareSides(
      'tools of one direct server usable, warm cache',
      1,
      rounds,
      withServer(toolsUsable, { exposure: 'direct' }),
      'shared',
      true,
    ),
  ]
}

async function compareSides(
  name: string,
  atMost: number,
  rounds: number,
  measure: (scratch: Scratch, side: Side) => Promise<number>,
  tmp: 'own' | 'shared',
  keepScratch = false,
): Promise<InsidePi> {
  process.stderr.write(`  ${name}…\n`)
  const figures: Record<Side, number[]> = { ours: [], builtIn: [] }
  const kept: Record<Side, Scratch> | undefined = keepScratch
    ? { ours: createScratch({ tmp }), builtIn: createScratch({ tmp }) }
    : undefined
  // One run of each side first: it fills the loader's cache where that is shared, and the tool cache where the scratch is kept.
  const first = tmp === 'shared' ? -1 : 0
  for (let round = first; round < rounds; round++) {
    for (const side of (round % 2 === 0 ? ['ours', 'builtIn'] : ['builtIn', 'ours']) as Side[]) {
      const scratch = kept?.[side] ?? createScratch({ tmp })
      const ms = await measure(scratch, side)
      if (round >= 0) figures[side].push(ms)
      if (!kept) await scratch.dispose()
    }
  }
  if (kept) await Promise.all([kept.ours.dispose(), kept.builtIn.dispose()])
  const oursMs = median(figures.ours)
  const builtInMs = median(figures.builtIn)
  return {
    name,
    atMost,
    oursMs,
    builtInMs,
    ratio: median(figures.ours.map((ms, index) => ms / (figures.builtIn[index] ?? NaN))),
  }
}

async function timeOfFirstRequest(scratch: Scratch, side: Side): Promise<number> {
  return (await firstRequest(scratch, side)).ms
}

function withServer(measure: (scratch: Scratch, side: Side) => Promise<number>, entry: object = {}) {
  return (scratch: Scratch, side: Side): Promise<number> => {
    scratch.write('agent/mcp.json', {
      mcpServers: { everything: { command: process.execPath, args: [servers.everything], ...entry } },
    })
    return measure(scratch, side)
  }
}

/** From the spawn to the first moment at which the server's tools are declared to the model. */
async function toolsUsable(scratch: Scratch, side: Side): Promise<number> {
  await using model = await startFakeModel()
  const start = performance.now()
  const pi: Pi = await startPi({ scratch, model, settings: settingsOf(side) })
  try {
    await pi.prompt('hello')
    const request = await model.waitForRequest((candidate) =>
      toolNames(candidate).includes('mcp__everything__echo'),
    )
    return request.at - start
  } finally {
    await pi.close()
  }
}

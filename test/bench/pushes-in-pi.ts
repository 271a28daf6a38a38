import { fileURLToPath } from 'node:url'
import { startFakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { preparePi } from '../drivers/pi-process.ts'
import { startPi } from '../drivers/pi.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { startTerminal, type Terminal } from '../drivers/terminal.ts'

const TAPLINE = fileURLToPath(new URL('../../presets/pi/entry.mjs', import.meta.url))

/** Milliseconds. */
export interface Spread {
  readonly count: number
  readonly median: number
  readonly p99: number
}

/** What pushes cost the person in front of the real pi. */
export interface PushesInPi {
  /** From a push's write at the server to its message in pi's session, three servers busy. Asked for: p99 under 50. */
  readonly wireToMessage: Spread & { readonly perSecond: number }
  /** From a key press to its character on the screen of a terminal, while a server pushes. Asked for: under 100. */
  readonly keyPress: { readonly quiet: Spread; readonly flooded: Spread; readonly perSecond: number }
}

const BUSY_RATE = 40
const MESSAGES = 1_500
const FLOOD_RATE = 5_000
const KEYS = 40

/** Measures both, once. */
export async function pushesInPi(): Promise<PushesInPi> {
  process.stderr.write('  wire to message…\n')
  const wireToMessage = await measureMessages()
  process.stderr.write('  key presses…\n')
  const quiet = await measureKeys(1)
  const flooded = await measureKeys(FLOOD_RATE)
  return { wireToMessage, keyPress: { quiet, flooded, perSecond: FLOOD_RATE } }
}

async function measureMessages(): Promise<PushesInPi['wireToMessage']> {
  await using scratch = createScratch({ tmp: 'shared' })
  await using model = await startFakeModel()
  const entries = ['one', 'two', 'three'].map((name) =>
    storm(name, BUSY_RATE, 'push = { default = { policy = "summary", limit = "none" } }', MESSAGES),
  )
  scratch.write('agent/loops/mcp.toml', entries.join('\n'))
  const pi = await startPi({ scratch, model, args: ['-e', TAPLINE] })
  try {
    const took: number[] = []
    const look = (): boolean => {
      for (const { type, message } of pi.events.slice(seen)) {
        seen++
        if (type !== 'message_end' || message?.customType !== 'tapline:push') continue
        const [, at = 'NaN'] = / at=(\d+)/.exec(String(message.content)) ?? []
        took.push(Number(message.timestamp) - Number(at))
      }
      return took.length >= MESSAGES
    }
    let seen = 0
    while (!look()) await pi.waitFor(({ type }) => type === 'message_end', 60_000)
    return { ...spreadOf(took), perSecond: 3 * BUSY_RATE }
  } finally {
    await pi.close()
  }
}

async function measureKeys(rate: number): Promise<Spread> {
  await using scratch = createScratch({ tmp: 'shared' })
  await using model = await startFakeModel()
  const push = 'push = { default = { policy = "summary", limit = "6/hour" } }'
  scratch.write('agent/loops/mcp.toml', storm('flood', rate, push))
  await using terminal = await openPi(scratch, model)
  await terminal.waitForScreen(/n=[56] /, 60_000)
  const took: number[] = []
  for (let n = 0; n < KEYS; n++) {
    const typed = 'abcdefghij'.repeat(4).slice(0, n + 1)
    const start = performance.now()
    await terminal.type(typed.at(-1) as string)
    const line = new RegExp(`(?<![a-j])${typed}(?![a-j])`)
    await terminal.waitForScreen(line, 10_000)
    took.push(performance.now() - start)
  }
  return spreadOf(took)
}

function openPi(scratch: Scratch, model: { readonly url: string }): Promise<Terminal> {
  const settings = { extensions: ['-builtin:mcp'] }
  const prepared = preparePi({ scratch, model, settings, args: ['-e', TAPLINE] })
  return startTerminal({ ...prepared, columns: 100, rows: 40 })
}

function storm(name: string, rate: number, push: string, most?: number): string {
  const args = [
    servers.storm,
    '--rate',
    String(rate),
    ...(most === undefined ? [] : ['--most', String(most)]),
  ]
  return [
    '[[server]]',
    `name = "${name}"`,
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify(args)}`,
    push,
    '',
  ].join('\n')
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
  return { count: sorted.length, median: at(0.5), p99: at(0.99) }
}

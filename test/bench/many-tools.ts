import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toolNames } from '../drivers/chat.ts'
import { startFakeModel } from '../drivers/fake-model.ts'
import { startPi } from '../drivers/pi.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'
import { firstRequest, settingsOf, type Side } from './sides.ts'

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** What the direct tools of a server cost the start when an earlier session has known them; medians, in milliseconds. */
export interface ManyTools {
  readonly tools: number
  /** How long the server takes until it answers anything. */
  readonly lateMs: number
  /** From the spawn to the first request, which declares every tool. */
  readonly oursMs: number
  readonly builtInMs: number
  /** The same of pi with its own MCP support and no server, and of pi with an extension that only registers the tools. */
  readonly noServerMs: number
  readonly registeringMs: number
  /** Ours to those two, round by round. Asked for: at most 1.05 of pi's without a server. */
  readonly ratio: number
  readonly ratioToRegistering: number
  /** Processor time that the tools add until the first prompt is begun, and how much of it they add without Tapline. */
  readonly addedStartMs: number
  readonly addedByPiMs: number
  /** How many of the tools the built-in support declares in its first request. */
  readonly builtInDeclares: number
}

const KINDS = ['ours', 'oursBare', 'builtIn', 'noServer', 'registering'] as const
type Kind = (typeof KINDS)[number]

interface Run {
  readonly wallMs: number
  readonly startedMs: number
  readonly declared: number
}

/** Measures tools of a server that is there at once, or late. */
export async function manyTools(rounds: number, tools: number, lateMs = 0): Promise<ManyTools> {
  process.stderr.write(`  ${tools} direct tools${lateMs > 0 ? `, the server ${lateMs} ms late` : ''}…\n`)
  const args = [file('many.mjs'), '--tools', String(tools), '--late', String(lateMs)]
  const many = { many: { command: process.execPath, args, exposure: 'direct' } }
  const scratches = KINDS.map((kind) => {
    const scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: kind === 'ours' || kind === 'builtIn' ? many : {} })
    return [kind, scratch] as const
  })
  // One session each, and a run like those that count: they fill the caches of the loader and of the tools.
  for (const [kind, scratch] of scratches) {
    await learn(scratch, sideOf(kind))
    await measure(scratch, kind, tools)
  }
  const runs = new Map<Kind, Run[]>(KINDS.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [kind, scratch] of round % 2 === 0 ? scratches : scratches.toReversed()) {
      const run = await measure(scratch, kind, tools)
      if (kind === 'ours' && run.declared !== tools)
        throw new Error(`${run.declared} of ${tools} tools were declared`)
      runs.get(kind)?.push(run)
    }
  }
  for (const [, scratch] of scratches) await scratch.dispose()
  const of = (kind: Kind, figure: keyof Run): number[] => (runs.get(kind) ?? []).map((run) => run[figure])
  const byRound = (
    a: readonly number[],
    b: readonly number[],
    how: (a: number, b: number) => number,
  ): number => median(a.map((value, index) => how(value, b[index] ?? NaN)))
  const over = (a: number, b: number): number => a / b
  const less = (a: number, b: number): number => a - b
  return {
    tools,
    lateMs,
    oursMs: median(of('ours', 'wallMs')),
    builtInMs: median(of('builtIn', 'wallMs')),
    noServerMs: median(of('noServer', 'wallMs')),
    registeringMs: median(of('registering', 'wallMs')),
    ratio: byRound(of('ours', 'wallMs'), of('noServer', 'wallMs'), over),
    ratioToRegistering: byRound(of('ours', 'wallMs'), of('registering', 'wallMs'), over),
    addedStartMs: byRound(of('ours', 'startedMs'), of('oursBare', 'startedMs'), less),
    addedByPiMs: byRound(of('registering', 'startedMs'), of('noServer', 'startedMs'), less),
    builtInDeclares: median(of('builtIn', 'declared')),
  }
}

function sideOf(kind: Kind): Side {
  return kind === 'ours' || kind === 'oursBare' ? 'ours' : 'builtIn'
}

async function measure(scratch: Scratch, kind: Kind, tools: number): Promise<Run> {
  const marks = join(scratch.root, 'marks.json')
  const extensions = [...(kind === 'registering' ? [file('registering.mjs')] : []), file('marks.mjs')]
  const { ms, request } = await firstRequest(scratch, sideOf(kind), {
    args: extensions.flatMap((path) => ['-e', path]),
    env: { MARKS: marks, TOOLS: String(tools) },
  })
  const { startedMs } = JSON.parse(readFileSync(marks, 'utf8')) as { readonly startedMs: number }
  const declared = toolNames(request).filter((name) => name.startsWith('mcp__many__')).length
  return { wallMs: ms, startedMs, declared }
}

/** A session whose prompt waits for direct tools, and which keeps them when it ends. */
async function learn(scratch: Scratch, side: Side): Promise<void> {
  await using model = await startFakeModel()
  const args = ['-e', file('marks.mjs')]
  const env = { MARKS: join(scratch.root, 'marks.json') }
  const pi = await startPi({ scratch, model, settings: settingsOf(side), args, env })
  await pi.prompt('hello')
  await pi.close()
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createScratch } from '../drivers/scratch.ts'
import { median } from './ratios.ts'

const CLAIMER = fileURLToPath(new URL('claimer.ts', import.meta.url))

/** What claims in the machine-wide window cost. */
export interface Claims {
  readonly processes: number
  readonly claimsEach: number
  readonly keys: number
  /** Keys that were not first exactly once. The design asks for none. */
  readonly wrong: number
  /** In all, from the word go to the last verdict: median over the rounds. The design asks for at least 5,000. */
  readonly perSecond: number
  /** Microseconds of a first claim, written and settled, where one process claims alone: median. */
  readonly firstUs: number
  /** Microseconds of a duplicate that is answered from memory, through the hook: median. The design asks for under 20. */
  readonly duplicateUs: number
}

const PROCESSES = 8
const CLAIMS_EACH = 2_000
/** Each key is claimed by four of the processes. */
const KEYS = 4_000

interface Outcome {
  readonly endedAt: number
  readonly firsts: readonly number[]
  readonly duplicateUs: number
}

/** Eight processes claim overlapping keys at once, each one after the other, and settle what they get. */
export async function claims(rounds: number): Promise<Claims> {
  const perSecond: number[] = []
  const firstUs: number[] = []
  const duplicateUs: number[] = []
  let wrong = 0
  for (let round = 0; round < rounds; round++) {
    const { outcomes, tookMs } = await race(PROCESSES)
    perSecond.push((PROCESSES * CLAIMS_EACH * 1_000) / tookMs)
    duplicateUs.push(...outcomes.map((outcome) => outcome.duplicateUs))
    const firsts = outcomes.flatMap((outcome) => outcome.firsts)
    wrong += firsts.length - new Set(firsts).size + (KEYS - new Set(firsts).size)
    firstUs.push(((await race(1)).tookMs * 1_000) / CLAIMS_EACH)
  }
  return {
    processes: PROCESSES,
    claimsEach: CLAIMS_EACH,
    keys: KEYS,
    wrong,
    perSecond: median(perSecond),
    firstUs: median(firstUs),
    duplicateUs: median(duplicateUs),
  }
}

/** Starts them, says go to all and waits for the last. */
async function race(
  processes: number,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly tookMs: number }> {
  await using scratch = createScratch()
  const project = join(scratch.home, 'project')
  mkdirSync(project, { recursive: true })
  const children = Array.from({ length: processes }, (_, index) => {
    const start = (index * KEYS) / processes
    const args = [CLAIMER, join(scratch.home, 'loops'), project, start, CLAIMS_EACH, KEYS].map(String)
    return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  })
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const printed = children.map((child) => text(child.stdout))
  const beganAt = Date.now()
  for (const child of children) child.stdin.write('go\n')
  const outcomes = (await Promise.all(printed)).map((line) => JSON.parse(line) as Outcome)
  return { outcomes, tookMs: Math.max(...outcomes.map(({ endedAt }) => endedAt)) - beganAt }
}

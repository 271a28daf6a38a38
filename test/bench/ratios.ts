import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MEASURE = fileURLToPath(new URL('measure.ts', import.meta.url))

/** One comparison: a figure of ours over a peer's, in the same run. */
export interface Comparison {
  readonly name: string
  readonly ours: string
  readonly peer: string
  readonly figure: 'cpuMs' | 'wallMs'
  /** What the design asks for: ours is at most this many times the peer's. */
  readonly atMost: number
}

/** The outcome of a comparison. Figures are medians over the rounds, in milliseconds. */
export interface Ratio extends Comparison {
  readonly oursMs: number
  readonly peerMs: number
  /** Median of the ratios round by round. */
  readonly ratio: number
  readonly least: number
  readonly most: number
}

interface Figures {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Measures every subject once a round, in turn, so that a machine that slows down slows all of them. */
export async function compare(
  work: 'burst' | 'calls' | 'frame',
  comparisons: readonly Comparison[],
  rounds: number,
): Promise<Ratio[]> {
  const subjects = [...new Set(comparisons.flatMap(({ ours, peer }) => [ours, peer]))]
  const figures = new Map<string, Figures[]>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const { stdout } = await run(process.execPath, [MEASURE, subject, work], { maxBuffer: 1 << 20 })
      figures.get(subject)?.push(JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Figures)
    }
  }
  return comparisons.map((comparison) => {
    const { ours, peer, figure } = comparison
    const oursFigures = (figures.get(ours) ?? []).map((entry) => entry[figure])
    const peerFigures = (figures.get(peer) ?? []).map((entry) => entry[figure])
    const ratios = oursFigures.map((value, index) => value / (peerFigures[index] ?? NaN))
    return {
      ...comparison,
      oursMs: median(oursFigures),
      peerMs: median(peerFigures),
      ratio: median(ratios),
      least: Math.min(...ratios),
      most: Math.max(...ratios),
    }
  })
}

/** The middle of some figures. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

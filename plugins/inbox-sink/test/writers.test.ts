import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startChild } from './child.ts'
import { createPlace, finding } from './place.ts'

/** How long two processes write, in seconds: `INBOX_WRITERS_SECONDS=60` is a minute. */
const SECONDS = Number(process.env.INBOX_WRITERS_SECONDS ?? 4)

describe('two processes that write', () => {
  it(`lose nothing and tear nothing in ${SECONDS} s`, { timeout: SECONDS * 1_000 + 60_000 }, async () => {
    const { open, paths, path } = createPlace()
    const names = ['one', 'two']
    const writers = names.map((name) => startChild('write.ts', paths.loopsDir, name, String(SECONDS * 1_000)))
    const here = open()
    // This process looks on, and adds now and then.
    let added = 0
    const done = Promise.all(writers.map(({ output }) => output))
    let outputs: string[] | undefined
    while (outputs === undefined) {
      await here.add(finding(`here ${added}`, { runId: `here-${added}` }))
      added++
      outputs = await Promise.race([done, sleep(50, undefined)])
    }
    const counts = outputs.map(Number)
    expect(Math.min(...counts)).toBeGreaterThan(SECONDS)

    const lines = readFileSync(path, 'utf8').split('\n')
    expect(lines.pop()).toBe('')
    const torn = lines.filter((line) => !isWhole(line))
    expect(torn).toEqual([])
    const entries = here.entries()
    expect(entries).toHaveLength(lines.length)
    const runs = entries.map(({ run_id }) => run_id)
    expect(new Set(runs).size).toBe(runs.length)
    const kept = new Set(runs)
    const wanted = [
      ...names.flatMap((name, index) =>
        Array.from({ length: counts[index] ?? 0 }, (_, n) => ({ run: `${name}-${n}`, claimed: n % 3 === 0 })),
      ),
      ...Array.from({ length: added }, (_, n) => ({ run: `here-${n}`, claimed: false })),
    ]
    // What was claimed may have gone beyond a megabyte; what is new never goes.
    expect(wanted.filter(({ run, claimed }) => !claimed && !kept.has(run))).toEqual([])
    const claimed = new Set(wanted.filter((row) => row.claimed).map(({ run }) => run))
    expect(entries.filter(({ run_id, status }) => (status === 'claimed') !== claimed.has(run_id))).toEqual([])
    console.info(`${counts.join(' and ')} findings by two processes, ${added} by a third`)
  })
})

function isWhole(line: string): boolean {
  try {
    const { id, status, text, run_id } = JSON.parse(line) as Record<string, unknown>
    return [id, status, text, run_id].every((value) => typeof value === 'string')
  } catch {
    return false
  }
}

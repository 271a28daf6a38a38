import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createProjects, files } from '@tapline/core'
import { openInbox } from '@tapline/inbox-sink'
import { createScratch } from '../drivers/scratch.ts'

/** What listing a full inbox costs: the project's new findings, in milliseconds of wall time, medians. */
export interface InboxListing {
  readonly entries: number
  /** As the first list of a process, and as one after another process has written. The design asks for under 50. */
  readonly readMs: number
  /** When nothing has changed since. */
  readonly againMs: number
  /** One more finding: lock, look for its run id, append, fsync. */
  readonly addMs: number
}

const ENTRIES = 10_000
const PROJECTS = 20

/** Lists an inbox of 10,000 findings, all of them new, of twenty projects. */
export async function inboxListing(rounds: number): Promise<InboxListing> {
  await using scratch = createScratch()
  const path = scratch.write('agent/loops/inbox.jsonl', '')
  const loopsDir = path.slice(0, path.lastIndexOf('/'))
  const open = () => openInbox({ files, loopsDir, projects: createProjects(scratch.home) })
  const inbox = open()
  await inbox.add({
    source: 'trigger:mcp:hub',
    runId: 'first',
    cwd: scratch.project,
    text: 'a finding '.repeat(12),
  })
  const [line = ''] = readFileSync(path, 'utf8').split('\n')
  const lineOf = (n: number): string => {
    const cwd = n % PROJECTS === 0 ? scratch.project : `/work/project-${n % PROJECTS}`
    return `${JSON.stringify({ ...JSON.parse(line), id: `inb-${n}`, run_id: `run-${n}`, cwd })}\n`
  }
  writeFileSync(path, Array.from({ length: ENTRIES }, (_, n) => lineOf(n)).join(''))
  const list = (store: typeof inbox): number => store.view({ cwd: scratch.project, all: false }).listed.length

  const [read, again, add]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const fresh = open()
    read.push(timed(() => list(fresh)))
    appendFileSync(path, lineOf(ENTRIES + round))
    read.push(timed(() => list(fresh)))
    again.push(timed(() => list(fresh)))
    const start = performance.now()
    await fresh.add({
      source: 'trigger:mcp:hub',
      runId: `added-${round}`,
      cwd: scratch.project,
      text: 'one more',
    })
    add.push(performance.now() - start)
    const listed = list(fresh)
    if (listed < ENTRIES / PROJECTS) throw new Error(`only ${listed} findings were listed`)
  }
  return { entries: ENTRIES, readMs: median(read), againMs: median(again), addMs: median(add) }
}

function timed(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

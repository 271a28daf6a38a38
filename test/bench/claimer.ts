/**
 * Claims keys one after the other and prints one JSON line, once a line on standard input says go.
 *   node claimer.ts <loops dir> <project> <first key> <claims> <keys>
 */
import { createKernel, type DedupRequest, type Trigger } from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { dedupWindow } from '@tapline/dedup-window'

const [loopsDir = '', cwd = '', ...numbers] = process.argv.slice(2)
const [start = 0, claims = 0, keys = 1] = numbers.map(Number)

const kernel = await createKernel({
  plugins: [dedupWindow()],
  host: testHost({ paths: { cwd, home: cwd, agentDir: cwd, loopsDir } }),
  report: console.error,
  log: { info: () => undefined, warn: console.error },
})

const request = (n: number): DedupRequest => {
  const trigger: Trigger = {
    kind: 'trigger',
    traceId: crypto.randomUUID(),
    source: 'mcp',
    server: 'bench',
    method: 'notifications/bench/event',
    key: `mcp:bench:custom:${n}`,
    replacement: 'drop',
    summary: 'notifications/bench/event',
    receivedAt: Date.now(),
  }
  return { trigger, scope: 'project' }
}

process.stdout.write('ready\n')
await new Promise((go) => process.stdin.once('data', go))
const firsts: number[] = []
for (let n = 0; n < claims; n++) {
  const key = (start + n) % keys
  for (let held = false; ; held = true) {
    const verdict = await kernel.hooks.dedup.promise({ ...request(key), held })
    if (verdict?.verdict === 'first') {
      firsts.push(key)
      verdict.done?.()
    }
    if (verdict?.verdict !== 'later') break
    await new Promise((resolve) => setTimeout(resolve, verdict.until - Date.now()))
  }
}
const endedAt = Date.now()

const REPEATS = 10_000
const known = request(start)
const began = performance.now()
for (let n = 0; n < REPEATS; n++) await kernel.hooks.dedup.promise(known)
const duplicateUs = ((performance.now() - began) * 1_000) / REPEATS

console.log(JSON.stringify({ endedAt, firsts, duplicateUs }))
await kernel.dispose()
process.exit(0)

import { mkdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { auditTrail } from '../../src/state/audit.ts'
import { createPlace } from '../place.ts'

const row = { type: 'trigger', traceId: 't', cwd: '/p', state: 'accepted' } as const

function rowsOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

it('writes one line for each row, in order, without secrets', async () => {
  const { paths } = createPlace()
  const audit = auditTrail(paths.loopsDir, () => expect.unreachable())
  audit.write({
    ...row,
    summary: 'line 1\nAuthorization: Bearer abcdef123456',
    details: { key: 'sk-abcdefgh1234', n: 1 },
  })
  for (let n = 0; n < 50; n++) audit.write({ ...row, details: { n } })
  await audit.flush()
  const path = join(paths.loopsDir, 'triggers-audit.jsonl')
  const rows = rowsOf(path)
  expect(rows).toHaveLength(51)
  expect(rows.slice(1).map(({ details }) => (details as { n: number }).n)).toEqual(
    Array.from({ length: 50 }, (_, n) => n),
  )
  expect(rows[0]).toMatchObject({ type: 'trigger', traceId: 't', state: 'accepted' })
  expect(rows[0]?.summary).toMatch(/^line 1\n/)
  expect(JSON.stringify(rows)).not.toMatch(/abcdef/)
  expect(Date.parse(rows[0]?.ts as string)).toBeGreaterThan(0)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('keeps the newer half when it grows beyond two megabytes, also of a torn file', async () => {
  const { paths, write } = createPlace()
  const old = Array.from({ length: 3_000 }, (_, n) =>
    JSON.stringify({ ...row, details: { n, filling: 'x'.repeat(800) } }),
  )
  const path = write('agent/loops/triggers-audit.jsonl', `${old.join('\n')}\n{"torn`)
  const audit = auditTrail(paths.loopsDir, () => expect.unreachable())
  audit.write({ ...row, state: 'newest' })
  await audit.flush()
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  expect(lines.length).toBeGreaterThan(1_000)
  expect(lines.length).toBeLessThan(2_000)
  expect(lines.at(-1)).toContain('newest')
  expect(lines.at(-2)).toBe('{"torn')
  expect(JSON.parse(lines[0] as string)).toMatchObject({ details: { filling: 'x'.repeat(800) } })
})

it('loses no row of several trails at once', async () => {
  const { paths } = createPlace()
  const trails = Array.from({ length: 4 }, () => auditTrail(paths.loopsDir, () => expect.unreachable()))
  for (let n = 0; n < 25; n++)
    for (const [index, trail] of trails.entries()) trail.write({ ...row, details: { index, n } })
  await Promise.all(trails.map((trail) => trail.flush()))
  expect(rowsOf(join(paths.loopsDir, 'triggers-audit.jsonl'))).toHaveLength(100)
})

it('says once that it cannot be written, and never throws', async () => {
  const { paths, write } = createPlace()
  const failures: string[] = []
  const loopsDir = write('agent/loops', 'in the way')
  const audit = auditTrail(loopsDir, (message) => failures.push(message))
  audit.write(row)
  await audit.flush()
  audit.write(row)
  await audit.flush()
  expect(failures).toHaveLength(1)
  expect(failures[0]).toContain(join(paths.loopsDir, 'triggers-audit.jsonl'))
  const circular: Record<string, unknown> = {}
  circular.self = circular
  expect(() => audit.write({ ...row, details: circular })).not.toThrow()
})

it('does not keep a session from ending when its lock is not given back', { timeout: 15_000 }, async () => {
  const { paths } = createPlace()
  const lock = join(paths.loopsDir, 'triggers-audit.jsonl.lock')
  mkdirSync(lock, { recursive: true })
  const held = setInterval(() => utimesSync(lock, new Date(), new Date()), 500)
  onTestFinished(() => clearInterval(held))
  const audit = auditTrail(paths.loopsDir, () => undefined)
  audit.write(row)
  const began = performance.now()
  await audit.flush()
  expect(performance.now() - began).toBeLessThan(3_000)
})

it('leaves out what would be too much to keep in memory, and says so once', async () => {
  const { paths } = createPlace()
  const lock = join(paths.loopsDir, 'triggers-audit.jsonl.lock')
  mkdirSync(lock, { recursive: true })
  const failures: string[] = []
  const audit = auditTrail(paths.loopsDir, (message) => failures.push(message))
  for (let n = 0; n < 10_050; n++) {
    audit.write({ ...row, details: { n } })
    if (n === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  rmSync(lock, { recursive: true })
  await audit.flush()
  const rows = rowsOf(join(paths.loopsDir, 'triggers-audit.jsonl'))
  // The first one was no longer waiting.
  expect(rows).toHaveLength(10_001)
  expect(rows.at(-1)).toMatchObject({ details: { n: 10_000 } })
  expect(failures).toEqual([expect.stringContaining('rows are left out')])
})

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { serverLog } from '../../src/state/server-log.ts'
import { createPlace } from '../place.ts'

const asItIs = (text: string) => text

it('writes in the format of pi, what belongs together at once, for the owner alone', () => {
  const { paths, read } = createPlace()
  const log = serverLog(paths.agentDir)
  log.write('hub', { level: 'error', logger: 'db', data: 'first\r\nsecond' }, asItIs)
  log.write('hub', { data: { a: 1 } }, asItIs)
  log.write('web', undefined, asItIs)
  log.write('web', ['x'], asItIs)
  expect(existsSync(log.path)).toBe(false)
  log.flush()
  const lines = read('agent/mcp.log').replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
  expect(lines).toBe(
    'TIME [hub] error db: first\n    second\nTIME [hub] info {"a":1}\nTIME [web] info undefined\nTIME [web] info ["x"]\n',
  )
  expect(statSync(log.path).mode & 0o777).toBe(0o600)
})

it('writes by itself soon after', async () => {
  const { paths } = createPlace()
  const log = serverLog(paths.agentDir)
  log.write('hub', { data: 'soon' }, asItIs)
  await expect.poll(() => existsSync(log.path) && readFileSync(log.path, 'utf8')).toContain('[hub] info soon')
})

it('keeps out what steers a terminal, forged lines, secrets, and the rest of endless messages', () => {
  const { paths, read } = createPlace()
  const log = serverLog(paths.agentDir)
  const redact = (text: string) => text.replaceAll('hunter2', '[REDACTED]')
  const forged = 'x\n2026-01-01T00:00:00.000Z [bank] info forged'
  log.write(
    'hub',
    { level: `in\u001B[31mfo\n${forged}`, logger: 'hunter2', data: `\u001B[2J${forged}` },
    redact,
  )
  log.write('hub', { data: { password: 'hunter2' } }, redact)
  log.write('hub', { data: 'y'.repeat(10_000_000) }, redact)
  log.flush()
  const text = read('agent/mcp.log')
  expect(text.match(/^\d/gm)).toHaveLength(3)
  for (const gone of ['\u001B', 'hunter2']) expect(text).not.toContain(gone)
  expect(text.length).toBeLessThan(70_000)
  expect(text).toMatch(/y… \(cut\)\n$/)
})

it('begins anew beyond 5 MB, and keeps the file before', () => {
  const { paths, read } = createPlace()
  writeFileSync(`${paths.agentDir}/mcp.log`, 'z'.repeat(5 * 1024 * 1024 + 1))
  const log = serverLog(paths.agentDir)
  log.write('hub', { data: 'new' }, asItIs)
  log.flush()
  expect(read('agent/mcp.log')).toMatch(/^\S+ \[hub\] info new\n$/)
  expect(statSync(`${log.path}.1`).size).toBe(5 * 1024 * 1024 + 1)
})

it('disturbs nobody when it cannot write', () => {
  const { paths } = createPlace()
  mkdirSync(`${paths.agentDir}/mcp.log`)
  const log = serverLog(paths.agentDir)
  log.write('hub', { data: 'lost' }, asItIs)
  expect(() => log.flush()).not.toThrow()
})

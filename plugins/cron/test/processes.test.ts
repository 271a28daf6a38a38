import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createPlace, type Place } from './place.ts'

const WINDOW = fileURLToPath(new URL('servers/window.ts', import.meta.url))

let place: Place
beforeEach(() => (place = createPlace(Date.now())))
afterEach(() => place.close())

/** A window as a process, with the lines that it has printed. */
function startWindow(): { lines: string[]; stop(): Promise<unknown> } {
  const child = spawn(process.execPath, [WINDOW, place.loopsDir], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  const ended = once(child, 'close')
  return {
    lines,
    stop: () => {
      child.stdin.end()
      return ended
    },
  }
}

it('fires each tick once, whatever several processes think of who owns it', async () => {
  const windows = [startWindow(), startWindow(), startWindow()]
  await vi.waitFor(() => expect(windows.every(({ lines }) => lines.includes('ready'))).toBe(true), 20_000)
  const { cron } = await place.open({ host: { delivers: false } })
  // They learn of it from the file.
  const ids: string[] = []
  for (let count = 0; count < 12; count++) ids.push((await cron.add({ schedule: 'in 1s', text: 'x' })).id)
  const keys = (): string[] =>
    windows.flatMap(({ lines }) => lines.filter((line) => line.startsWith('cron:')))
  await vi.waitFor(() => expect(new Set(keys().map(idOf))).toEqual(new Set(ids)), 20_000)
  // Their end comes after all that they had begun.
  await Promise.all(windows.map((window) => window.stop()))
  expect(keys().map(idOf).toSorted()).toEqual(ids.toSorted())
  expect(place.jobs().every(({ enabled, runs }) => !enabled && runs === 1)).toBe(true)
})

function idOf(key: string): string {
  return key.split(':')[1] ?? ''
}

import { spawn } from 'node:child_process'
import { performance } from 'node:perf_hooks'

/** The gates of `npm run check`, slowest first. Each is a command of `node_modules/.bin`. */
const GATES: Record<string, readonly string[]> = {
  unit: ['vitest', 'run', '--project', 'unit', '--reporter', 'dot'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  types: ['tsc'],
  unused: ['knip', '--no-config-hints'],
  format: ['oxfmt', '--check'],
}

interface Outcome {
  readonly gate: string
  readonly ok: boolean
  readonly output: string
  readonly seconds: string
}

/** The unit tests run beside the others, one after another: more at once would only share two cores. */
const [first, ...others] = Object.keys(GATES)
const outcomes = (await Promise.all([inTurn([first!]), inTurn(others)])).flat()
for (const { gate, ok, output, seconds } of outcomes) {
  if (!ok) console.log(`\n${output.trim()}\n`)
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${gate} (${seconds} s)`)
}
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1

async function inTurn(gates: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const gate of gates) outcomes.push(await run(gate))
  return outcomes
}

function run(gate: string): Promise<Outcome> {
  const start = performance.now()
  const [command, ...args] = GATES[gate]!
  let output = ''
  return new Promise((resolve) => {
    const child = spawn(command!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    const end = (ok: boolean) =>
      resolve({ gate, ok, output, seconds: ((performance.now() - start) / 1000).toFixed(1) })
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.once('error', (error) => {
      output += `${command} could not be started: ${error.message}`
      end(false)
    })
    child.once('close', (code) => end(code === 0))
  })
}

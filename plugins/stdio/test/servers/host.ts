// A program like pi, to be ended in every way there is. Takes modes of family.sh as its argument, tells what
// runs, and then does what it is told on standard input.
import { createInterface } from 'node:readline'
import { keeper } from '../../src/reaper.ts'
import type { StdioTransport } from '../../src/transport.ts'
import { familyOf, ready } from '../support.ts'

const servers: StdioTransport[] = []
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

async function start(modes: readonly string[]): Promise<void> {
  const more = modes.map((mode) => familyOf(mode))
  servers.push(...more)
  await Promise.all(more.map((server) => ready(server)))
  // Another copy of the module, as after a reload.
  const { href } = new URL('../../src/reaper.ts?copy', import.meta.url)
  const copy = (await import(href)) as typeof import('../../src/reaper.ts')
  say({
    servers: servers.map(({ pid }) => pid),
    reaper: keeper().reaper,
    shared: copy.keeper !== keeper && copy.keeper() === keeper(),
  })
}

await start(JSON.parse(process.argv[2] ?? '[]') as string[])

const input = createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'exit') process.exit(0)
  if (line === 'throw') throw new Error('as told')
  if (line === 'more') void start(['plain'])
  if (line === 'deaf') {
    process.on('SIGINT', () => say('heard'))
    say('deaf')
  }
  if (line === 'close') void Promise.all(servers.map((server) => server.close())).then(() => input.close())
})

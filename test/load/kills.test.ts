import { join } from 'node:path'
import { createTapline, pathsFor, trustStore } from '@tapline/headless'
import { expect, it } from 'vitest'
import type { Plugin, TriggerEvent } from '@tapline/core'
import { servers } from '../drivers/fixtures.ts'
import { waitUntil } from '../drivers/processes.ts'
import { createScratch } from '../drivers/scratch.ts'

const PUSHES = 100_000
const SERVERS = ['storm_a', 'storm_b', 'storm_c', 'storm_d']
/** Where the pushes of each server go; their methods are named after it. */
const POLICIES = ['fast', 'slow', 'bounded', 'log', 'broken']

it('keeps the books and the order of 100,000 pushes whose servers are killed at random', async () => {
  await using scratch = createScratch({ tmp: 'shared' })
  const entry = (name: string) => [
    '[[server]]',
    `name = "${name}"`,
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([servers.storm, ...POLICIES.flatMap((policy) => ['--method', `notifications/${policy}`])])}`,
    'reconnect = { initial_ms = 10, max_ms = 50, max_attempts = 100000 }',
    '[server.push]',
    ...POLICIES.filter((policy) => policy !== 'bounded').map(
      (policy) => `"notifications/${policy}" = "${policy}"`,
    ),
    '"notifications/bounded" = { policy = "fast", limit = "100/second" }',
  ]
  scratch.write('agent/loops/mcp.toml', SERVERS.flatMap(entry).join('\n'))
  const watched = new Watch()
  const env = { HOME: scratch.root, PI_CODING_AGENT_DIR: join(scratch.root, 'agent') }
  const paths = pathsFor(env, scratch.root)
  const tapline = await createTapline({
    paths,
    env: { ...process.env, ...env },
    info: { name: 'storm', version: '1.0.0' },
    mode: 'headless',
    pushes: 'deliver',
    projectTrusted: true,
    trust: trustStore(paths.agentDir),
    registered: () => [],
    plugins: [watched.plugin],
    onDiagnostic: () => undefined,
  })
  const books = () => SERVERS.map((name) => tapline.pipeline.book(name))
  const received = () => books().reduce((sum, book) => sum + book.received, 0)
  const balanced = () => {
    for (const { counts } of books()) {
      const { received: all, delivered, redirected, deduped, collapsed, dropped, pending } = counts
      expect(delivered + redirected + deduped + collapsed + dropped + pending).toBe(all)
    }
  }
  watched.onEvent = (count) => {
    if (count % 997 === 0) balanced()
  }
  try {
    tapline.start()
    let kills = 0
    while (received() < PUSHES) {
      const before = received()
      await waitUntil(() => received() >= Math.min(PUSHES, before + 2_000), 60_000, 'more pushes')
      balanced()
      const victim = SERVERS[Math.floor(Math.random() * SERVERS.length)] as string
      const pid = watched.pidOf(victim)
      if (pid === undefined) continue
      try {
        process.kill(pid, 'SIGKILL')
        kills++
      } catch {
        // It is already gone, and the next one has not said anything yet.
      }
    }
    expect(kills).toBeGreaterThan(10)
    await Promise.all(tapline.servers.map(({ session }) => session.close()))
    await tapline.pipeline.idle()
    await tapline.pipeline.close()
    balanced()
    for (const { counts } of books()) expect(counts).toMatchObject({ pending: 0 })
    // Each server was killed and came back, and each way out was taken.
    expect(new Set(watched.processes.values()).size).toBe(SERVERS.length)
    expect(watched.processes.size).toBeGreaterThan(SERVERS.length)
    expect([...watched.states].toSorted()).toEqual(['delivered', 'redirected'])
    expect(watched.disorder).toEqual([])
    expect(watched.ended).toBe(received())
  } finally {
    await tapline.close()
  }
})

/** Sinks of several tempers, and an eye on the order in which each server's pushes end. */
class Watch {
  readonly plugin: Plugin
  readonly states = new Set<string>()
  readonly disorder: string[] = []
  /** Process → server. */
  readonly processes = new Map<number, string>()
  onEvent: (count: number) => void = () => undefined
  ended = 0
  readonly #last = new Map<string, number>()
  readonly #newest = new Map<string, number>()

  constructor() {
    this.plugin = {
      name: 'storm-sinks',
      api: 1,
      setup: ({ hooks }) => {
        hooks.deliver.sink('fast').tap({}, () => ({ sink: 'fast' }))
        hooks.deliver.sink('slow').tapPromise({}, async () => {
          await Promise.resolve()
          return { sink: 'slow' }
        })
        let calls = 0
        hooks.deliver.sink('broken').tap({}, () => {
          if (calls++ % 2 === 0) throw new Error('broken')
          return undefined
        })
        // Before the real one, which would write a line for each.
        hooks.deliver.sink('inbox').tap({ stage: 'early' }, () => ({ sink: 'inbox' }))
        hooks.deliver.observe((event) => this.#see(event))
      },
    }
  }

  pidOf(server: string): number | undefined {
    return this.#newest.get(server)
  }

  #see({ server, method, summary, state, reason }: TriggerEvent): undefined {
    if (state === 'pending') return
    this.ended++
    this.states.add(state)
    const [, n = '', pid = ''] = /n=(\d+) pid=(\d+)/.exec(summary) ?? []
    this.processes.set(Number(pid), server)
    this.#newest.set(server, Number(pid))
    // What exceeds a limit is told together, a little later than what is let through.
    const way = `${server} ${pid} ${method} ${reason ?? ''}`
    const last = this.#last.get(way) ?? 0
    if (Number(n) <= last) this.disorder.push(`${way}: ${n} after ${last}`)
    this.#last.set(way, Number(n))
    this.onEvent(this.ended)
  }
}

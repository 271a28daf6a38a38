import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { createRegistry, type Registry } from '../../src/session/registry.ts'
import { sourcesText } from '../../src/session/sources-text.ts'
import { createToolbox, type Toolbox } from '../../src/session/toolbox.ts'
import { packed, unpacked } from '../../src/cached-tools.ts'
import { definitionOf } from '../../src/session/definition.ts'

const tool = (name: string, parameters: Record<string, unknown> = {}): ToolSpec =>
  ({
    name,
    label: name,
    description: name,
    parameters,
    exposure: 'direct',
    server: { name: 'docs' },
    serverTool: { name, inputSchema: {} },
  }) as unknown as ToolSpec

const NOTHING = { names: new Set<string>(), definitions: [], instructions: {} }

const fakePi = (registered: string[]) =>
  ({
    getAllTools: () => [],
    registerTool: ({ name }: { name: string }) => {
      if (name === 'refused') throw new Error('pi says no')
      registered.push(name)
    },
    getActiveTools: () => [],
    setActiveTools: () => undefined,
  }) as unknown as ExtensionAPI

/** Makes all steps. */
function apply(registry: Registry, tools: readonly ToolSpec[]): void {
  Array.from(registry.apply(tools, () => undefined))
}

describe('the registry', () => {
  it('registers the rest when one tool cannot be', () => {
    const registered: string[] = []
    const refused: string[] = []
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const registry = createRegistry(
      fakePi(registered),
      NOTHING,
      () => Promise.reject(new Error('not called')),
      (name) => refused.push(name),
    )
    const tools = [tool('a'), tool('cyclic', cyclic), tool('big', { n: 1n }), tool('refused'), tool('z')]
    apply(registry, tools)
    expect(registered).toEqual(['a', 'z'])
    expect(refused).toEqual(['cyclic', 'big', 'refused'])
    expect(registry.definitions().map(({ name }) => name)).toEqual(['a', 'z'])
  })

  it('registers nothing anew of what was registered before the session as it is now', () => {
    const [a, b, changed] = [tool('a'), tool('b'), tool('b', { type: 'object' })].map((spec) =>
      definitionOf(spec, 'Be kind.'),
    )
    // Through a file, which has what they share once.
    const file = JSON.parse(JSON.stringify(packed([a!, b!]))) as ReturnType<typeof packed>
    expect(file.shared).toHaveLength(2)
    const definitions = file.tools.map((each) => unpacked(each, file.shared))
    const registered: string[] = []
    const early = { names: new Set(['a', 'b']), definitions }
    const registry = createRegistry(fakePi(registered), early, () => Promise.reject(new Error('not called')))
    const words = () => 'Be kind.'
    Array.from(registry.apply([tool('a'), tool('b')], words))
    expect(registered).toEqual([])
    Array.from(registry.apply([tool('a'), tool('b', { type: 'object' })], words))
    expect(registered).toEqual(['b'])
    expect(registry.definitions()).toEqual([a, changed])
  })

  it('has direct tools declared together and in order, and takes back those that are not any more', () => {
    const pi = declaringPi(['read'])
    const registry = createRegistry(pi, NOTHING, () => Promise.reject(new Error('not called')))
    const first = registry.apply([tool('a'), tool('b')], () => undefined)
    first.next()
    first.next()
    expect(pi.active()).toEqual(['read'])
    // It was left before its end: the next one declares what it has registered too.
    apply(registry, [tool('a'), tool('b'), tool('c')])
    expect(pi.active()).toEqual(['read', 'a', 'b', 'c'])
    const later = [{ ...tool('a'), exposure: 'deferred' as const }, tool('b', { type: 'object' }), tool('c')]
    registry.apply(later, () => undefined).next()
    apply(registry, later)
    expect(pi.active()).toEqual(['read', 'b', 'c'])
    apply(registry, [tool('a'), tool('b'), tool('c')])
    expect(pi.active()).toEqual(['read', 'b', 'c', 'a'])
  })

  it('leaves what somebody has switched off as it is, until it comes back', () => {
    const pi = declaringPi(['read'])
    const registry = createRegistry(pi, NOTHING, () => Promise.reject(new Error('not called')))
    apply(registry, [tool('a'), tool('b')])
    pi.setActiveTools(['read', 'b'])
    apply(registry, [tool('a', { type: 'object' }), tool('b')])
    expect(pi.active()).toEqual(['read', 'b'])
    apply(registry, [tool('b')])
    apply(registry, [tool('a'), tool('b')])
    expect(pi.active()).toEqual(['read', 'b', 'a'])
  })

  it.each([3, 30])('hides %i tools that are gone', (count) => {
    const pi = declaringPi(['read'])
    const registry = createRegistry(pi, NOTHING, () => Promise.reject(new Error('not called')))
    const many = Array.from({ length: count }, (_, n) => tool(`many_${n}`))
    apply(registry, [tool('a'), ...many])
    expect(pi.active()).toHaveLength(count + 2)
    apply(registry, [tool('a')])
    expect(pi.active()).toEqual(['read', 'a'])
    expect(pi.hidden()).toEqual(many.map(({ name }) => name))
    expect(registry.definitions().map(({ name }) => name)).toEqual(['a'])
  })
})

describe('the registry of a resumed conversation', () => {
  const resumed = (active: string[]) => {
    const pi = declaringPi(active)
    const early = { ...NOTHING, resumed: true }
    return { pi, registry: createRegistry(pi, early, () => Promise.reject(new Error('not called'))) }
  }
  const many = Array.from({ length: 30 }, (_, n) => tool(`many_${n}`))

  it('takes nothing back at once that pi would forget others for, until a run begins', () => {
    const { pi, registry } = resumed(['read'])
    apply(registry, [tool('a'), tool('b'), ...many])
    apply(registry, [{ ...tool('a'), exposure: 'deferred' }, tool('b')])
    expect(pi.active()).toEqual(['read', 'b'])
    expect(pi.hidden()).toEqual(many.map(({ name }) => name))
    expect(pi.forgot()).toBe(false)
    apply(registry, [tool('a'), tool('b'), ...many])
    expect(pi.active()).toHaveLength(33)
    registry.runStarts()
    apply(registry, [tool('b')])
    expect(pi.active()).toEqual(['read', 'b'])
    expect(pi.forgot()).toBe(true)
  })
})

/** A pi that declares tools as pi does: new direct ones by itself, unless they are not active by default. */
function declaringPi(active: string[]) {
  const exposures = new Map<string, string>()
  let forgot = false
  const pi = {
    getAllTools: () => [],
    registerTool: (given: { name: string; exposure: string; defaultActive?: boolean }) => {
      const { name, exposure, defaultActive = true } = given
      if (exposure === 'direct' && exposures.get(name) !== 'direct' && defaultActive) active.push(name)
      if (exposure === 'hidden') active = active.filter((each) => each !== name)
      exposures.set(name, exposure)
    },
    getActiveTools: () => active,
    setActiveTools: (names: string[]) => {
      forgot ||= active.some((name) => !names.includes(name))
      active = [...new Set(names)]
    },
    /** Whether an active tool was taken back, which drops what a conversation declared and is not there yet. */
    forgot: () => forgot,
    active: () => active,
    hidden: () => [...exposures].flatMap(([name, exposure]) => (exposure === 'hidden' ? [name] : [])),
  }
  return pi as unknown as ExtensionAPI & typeof pi
}

it('lets nothing escape from the toolbox, and says it once', async () => {
  const said: string[] = []
  const toolbox = createToolbox({
    pi: fakePi([]),
    paths: { agentDir: '/nowhere', home: '/nowhere', cwd: '/nowhere', loopsDir: '/nowhere/loops' },
    early: NOTHING,
    notices: {
      say: ({ message }) => said.push(message),
      setAside: () => undefined,
      holdUntil: () => undefined,
      close: () => undefined,
    },
    onApplied: () => undefined,
  })
  const broken = {
    servers: [],
    settings: {},
    kernel: { plugins: [], hooks: { registerTool: { taps: [] } } },
    catalogue: {
      steps: () => {
        throw new Error('no list')
      },
    },
  }
  toolbox.use(broken as unknown as Tapline)
  await toolbox.upToDate(undefined)
  expect(said).toEqual(['MCP tools could not be registered: no list'])
})

/** What the sources of one server print as. */
function sourcesOf(status: object, { enabled = true, book = {} }: { enabled?: boolean; book?: object } = {}) {
  const server = {
    spec: { name: 'docs', enabled, push: {}, transport: { type: 'stdio' }, source: { scope: 'user' } },
    session: { status: { state: 'connected', report: {}, ...status } },
  } as unknown as Server
  const tapline = {
    servers: [server],
    services: {},
    diagnostics: [],
    pipeline: { book: () => ({ counts: {}, recent: [], ...book }) },
  }
  return sourcesText(tapline as unknown as Tapline, { toolsOf: () => [] } as unknown as Toolbox)
}

it('says of a source what somebody has to do, unless it is disabled', () => {
  const wrong = { state: 'auth_failed', reason: 'no way in', attention: 'Sign in.' }
  expect(sourcesOf(wrong)).toMatch(/auth_failed \(no way in\) .*! Sign in\.$/m)
  expect(sourcesOf(wrong, { enabled: false })).toMatch(/source #1: disabled queued=.*last_event=never$/m)
  const unheard = { reason: 'its pushes do not arrive: no', attention: 'Sign in.' }
  expect(sourcesOf(unheard)).toMatch(/connected \(its pushes do not arrive: no\) .*! Sign in\.$/m)
})

it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])('lists events of the time %o', (time) => {
  const recent = [{ ts: time, method: 'm', summary: 'odd', state: 'delivered' }]
  const text = sourcesOf({}, { book: { lastEventAt: time, recent } })
  expect(text).toContain('last_event=unknown')
  expect(text).toContain('unknown odd: delivered')
})

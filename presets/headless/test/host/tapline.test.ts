import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  API_VERSION,
  type ConfigState,
  type Host,
  type Plugin,
  type Receipt,
  type Trigger,
} from '@tapline/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { TaplineOptions } from '../../src/host/options.ts'
import { soundState } from '../../src/host/sound.ts'
import { createTapline, type Tapline } from '../../src/host/tapline.ts'
import { trustStore } from '../../src/state/trust.ts'
import { createPlace, type Place } from '../place.ts'

async function open(place: Place, more: Partial<TaplineOptions> = {}): Promise<Tapline> {
  const tapline = await createTapline({
    paths: place.paths,
    env: {},
    info: { name: 'test', version: '1' },
    mode: 'headless',
    pushes: 'ignore',
    projectTrusted: false,
    trust: trustStore(place.paths.agentDir),
    registered: () => [],
    onDiagnostic: () => undefined,
    ...more,
  })
  onTestFinished(() => tapline.close())
  return tapline
}

function witness(): { readonly plugin: Plugin; readonly ended: () => number } {
  let ended = 0
  const plugin: Plugin = { name: 'witness', api: API_VERSION, setup: () => () => void (ended += 1) }
  return { plugin, ended: () => ended }
}

describe('a reload that fails', () => {
  it('leaves a Tapline that reloads and closes', async () => {
    const { plugin, ended } = witness()
    let broken = false
    const registered = () => {
      if (broken) throw new Error('no list')
      return []
    }
    const tapline = await open(createPlace(), { registered, plugins: [plugin] })
    broken = true
    await expect(tapline.reload()).rejects.toThrow('no list')
    broken = false
    await expect(tapline.reload()).resolves.toBeUndefined()
    broken = true
    await expect(tapline.reload()).rejects.toThrow('no list')
    await tapline.close()
    expect(ended()).toBe(1)
  })

  it('ends the plugins when it is the first', async () => {
    const { plugin, ended } = witness()
    const registered = () => {
      throw new Error('no list')
    }
    await expect(open(createPlace(), { registered, plugins: [plugin] })).rejects.toThrow('no list')
    expect(ended()).toBe(1)
  })
})

describe('an event that a plugin hands in', () => {
  const event: Trigger = {
    kind: 'trigger',
    traceId: 't',
    source: 'doorbell',
    server: 'doorbell',
    method: 'rang',
    key: 'rang:1',
    replacement: 'drop',
    summary: 'somebody rang',
    receivedAt: 1,
    policy: 'log',
  }

  it('is delivered, also when it comes while everything is set up; a wrong one is thrown back at once', async () => {
    const thrown: unknown[] = []
    const ring = (admit: Host['admit'], more: object = {}) => {
      try {
        admit?.({ ...event, ...more })
      } catch (error) {
        thrown.push(error)
      }
    }
    let host: Host | undefined
    const doorbell: Plugin = {
      name: 'doorbell',
      api: API_VERSION,
      setup(place) {
        host = place.host
        ring(place.host.admit)
        ring(place.host.admit, { key: undefined })
      },
    }
    const tapline = await open(createPlace(), { pushes: 'deliver', plugins: [doorbell] })
    ring(host?.admit, { key: 'rang:2', traceId: 't2' })
    ring(host?.admit, { receivedAt: 'now' })
    await tapline.pipeline.idle()
    expect(tapline.pipeline.book('doorbell').counts).toMatchObject({ received: 2, delivered: 2 })
    expect(thrown.map(String)).toEqual([
      'TypeError: "key" of an event is not what it must be',
      'TypeError: "receivedAt" of an event is not what it must be',
    ])
  })

  it('is not in the inbox when the inbox refuses it', async () => {
    let answer: Partial<Receipt> = {}
    let host: Host | undefined
    const inbox: Plugin = {
      name: 'another-inbox',
      api: API_VERSION,
      setup(place) {
        host = place.host
        place.hooks.deliver.sink('inbox').tap({ stage: 'early' }, () => ({ sink: 'inbox', ...answer }))
      },
    }
    await open(createPlace(), { pushes: 'deliver', plugins: [inbox] })
    expect(await host?.toInbox?.(event, { reason: 'for fun' })).toBe(true)
    answer = { refused: 'full' }
    expect(await host?.toInbox?.(event, { reason: 'for fun' })).toBe(false)
    answer = { dropped: 'known' }
    expect(await host?.toInbox?.(event, { reason: 'for fun' })).toBe(false)
  })
})

describe('the presence of a Tapline', () => {
  const records = ({ paths }: Place) => {
    const directory = join(paths.loopsDir, 'presence')
    return existsSync(directory) ? readdirSync(directory) : []
  }

  it('ends with it, also with one that could not be set up', async () => {
    const place = createPlace()
    const tapline = await open(place, { pushes: 'deliver' })
    expect(records(place)).toHaveLength(1)
    await tapline.close()
    expect(records(place)).toEqual([])
    const plugins = new Proxy([], {
      get: (target, key) => {
        if (key === Symbol.iterator) throw new Error('no list of plugins')
        return Reflect.get(target, key) as unknown
      },
    })
    await expect(open(place, { pushes: 'deliver', plugins })).rejects.toThrow('no list of plugins')
    expect(records(place)).toEqual([])
  })

  it('leaves what waits to another one that has the very same directory open, and to no other', async () => {
    const place = createPlace()
    mkdirSync(join(place.paths.cwd, 'inside'))
    const later: Plugin = {
      name: 'later',
      api: API_VERSION,
      setup({ hooks }) {
        hooks.dedup.tap({ stage: 'early' }, () => ({ verdict: 'later', until: Date.now() + 60_000 }))
        hooks.deliver.sink('kept').tap({}, () => ({ sink: 'kept' }))
      },
    }
    const held = async (more: Partial<TaplineOptions> = {}): Promise<Tapline> => {
      const tapline = await open(place, { pushes: 'deliver', plugins: [later], ...more })
      tapline.pipeline.admit({
        kind: 'trigger',
        traceId: 't',
        source: 'doorbell',
        server: 'doorbell',
        method: 'rang',
        key: 'rang',
        replacement: 'latest_replaces',
        summary: 'somebody rang',
        receivedAt: 1,
        policy: 'kept',
      })
      return tapline
    }
    const counts = ({ pipeline }: Tapline) => pipeline.book('doorbell').counts
    const ended = async (): Promise<object> => {
      const tapline = await held()
      await tapline.close()
      const { delivered, dropped } = counts(tapline)
      return { delivered, dropped }
    }
    expect(await ended()).toEqual({ delivered: 1, dropped: 0 })
    const inside = join(place.paths.cwd, 'inside')
    const window = { pushes: 'deliver', mode: 'tui' } as const
    const below = await open({ ...place, paths: { ...place.paths, cwd: inside } }, window)
    expect(await ended()).toEqual({ delivered: 1, dropped: 0 })
    await below.close()
    const beside = await open(place, window)
    expect(await ended()).toEqual({ delivered: 0, dropped: 1 })
    await beside.close()

    // Of those that end at the same time, one delivers it.
    const both = [await held(window), await held(window)]
    await Promise.all(both.map((tapline) => tapline.close()))
    expect(both.map((tapline) => counts(tapline).delivered).toSorted((a, b) => a - b)).toEqual([0, 1])
  })
})

describe('a plugin that lies about the configuration', () => {
  it('costs a diagnostic', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const answer of [undefined, null, 5, [], { servers: 'none', diagnostics: [], questions: [] }])
      expect(soundState(answer).diagnostics.at(-1)?.message).toContain('left out')
    const servers = [null, 1, {}, { name: 'x' }, cyclic] as never[]
    const diagnostics = [{ severity: 'error', message: 'mine' }, {}] as ConfigState['diagnostics']
    const sound = soundState({ servers, diagnostics, questions: [{ path: '' }] })
    expect([sound.servers, sound.questions, sound.diagnostics[0]?.message]).toEqual([[], [], 'mine'])
    expect(sound.diagnostics[1]?.message).toContain('with 7 things that are no server')
  })
})

describe('names in tapline.* that nothing has', () => {
  it('are warned of once, with what was probably meant', async () => {
    const place = createPlace()
    const entry = (push: object) => ({ command: 'node', enabled: false, push })
    place.write('agent/mcp.json', { mcpServers: { hub: entry({}) } })
    place.write(
      'agent/tapline.toml',
      `disable = ["keychian"]
[options.sdtio]
a = 1
[options.keychain]
b = 1
[elicitation]
hub = false
hob = false
[push."*"]
default = "sumary"
"x" = "inbox"
channel = true
[push.hib]
default = "log"
[push.hub]
default = "mine"`,
    )
    const told: string[] = []
    const mine: Plugin = {
      name: 'mine',
      api: API_VERSION,
      setup: ({ hooks }) => hooks.deliver.sink('mine').tap({}, () => undefined),
    }
    const tapline = await open(place, {
      plugins: [mine],
      onDiagnostic: ({ severity, message }) => told.push(`${severity}: ${message}`),
    })
    await tapline.reload()
    expect(told).toEqual([
      'warning: "disable" of tapline.*: no plugin is named "keychian". Did you mean "keychain"?',
      'warning: "options" of tapline.*: no plugin is named "sdtio". Did you mean "stdio"?',
      'warning: "push" of tapline.*: no server is named "hib"; its policies do nothing. Did you mean "hub"?',
      'warning: "elicitation" of tapline.*: no server is named "hob"; this does nothing. Did you mean "hub"?',
      'warning: "push" of tapline.*, "*": "channel" does nothing here: name the server that may be one.',
      'warning: "push" of tapline.*, "*": "default" has the policy "sumary", which is not built in and no plugin provides. Did you mean "summary"?',
    ])
  })
})

describe('the command', () => {
  it('refuses --approve together with --no-approve', async () => {
    expect(await main(['list', '--approve', '--no-approve'])).toBe(2)
  })
})

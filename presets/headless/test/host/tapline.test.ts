import { API_VERSION, type ConfigState, type Plugin } from '@tapline/core'
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
[push."*"]
default = "sumary"
"x" = "inbox"
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
      'warning: "push" of tapline.*, "*": "default" has the policy "sumary", which is not built in and no plugin provides. Did you mean "summary"?',
    ])
  })
})

describe('the command', () => {
  it('refuses --approve together with --no-approve', async () => {
    expect(await main(['list', '--approve', '--no-approve'])).toBe(2)
  })
})

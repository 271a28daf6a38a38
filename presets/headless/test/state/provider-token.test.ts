import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storedProviderToken } from '../../src/state/provider-token.ts'
import { createPlace, type Place } from '../place.ts'
import { ofPi } from './pi.ts'

interface PiRuntime {
  getAuth(provider: string): Promise<{ readonly auth: { readonly apiKey?: string } } | undefined>
}
const { ModelRuntime } = await ofPi<{
  ModelRuntime: {
    create(options: { authPath: string; modelsPath: string; refreshOnCreate: boolean }): Promise<PiRuntime>
  }
}>('core/model-runtime.js')

const later = Date.now() + 3_600_000
const oauth = { type: 'oauth', access: 'a-token', refresh: 'r', expires: later }
const ENV = { PATH: process.env['PATH'], ZQ_KEY: 'from-env' }

function placeWith(auth: unknown, models?: unknown): Place {
  const place = createPlace()
  if (auth !== undefined) place.write('agent/auth.json', auth)
  if (models !== undefined) place.write('agent/models.json', models)
  return place
}

async function tokenOf(auth: unknown, models?: unknown, provider = 'hub'): Promise<string | undefined> {
  return storedProviderToken(placeWith(auth, models).paths.agentDir, ENV)(provider)
}

/** models.json of a provider that speaks a protocol which pi knows. */
const configured = (apiKey?: string): object => ({
  providers: {
    hub: {
      baseUrl: 'http://127.0.0.1:1/v1',
      api: 'openai-completions',
      ...(apiKey === undefined ? {} : { apiKey }),
      models: [{ id: 'm' }],
    },
  },
})

describe('the token of a provider outside pi', () => {
  it('is that of a sign-in, unless it has expired', async () => {
    expect(await tokenOf({ hub: oauth })).toBe('a-token')
    expect(await tokenOf({ hub: { ...oauth, expires: Date.now() - 1 } })).toBeUndefined()
    // What a server gave is never run, nor filled in.
    expect(await tokenOf({ hub: { ...oauth, access: '!echo x' } })).toBe('!echo x')
    expect(await tokenOf({ hub: { ...oauth, access: '$ZQ_KEY' } })).toBe('$ZQ_KEY')
    // It owns the provider: no other key stands in for it.
    expect(await tokenOf({ hub: { ...oauth, expires: 1 } }, configured('other'))).toBeUndefined()
  })

  it('is there for no other name, and not where a file is broken or an entry is something else', async () => {
    expect(await tokenOf(undefined)).toBeUndefined()
    expect(await tokenOf({ hub: oauth }, undefined, 'toString')).toBeUndefined()
    for (const entry of [null, 5, 'text', {}, [], { type: 'oauth' }, { type: 'api_key' }, { key: 5 }])
      expect(await tokenOf({ hub: entry })).toBeUndefined()
    for (const text of ['{', '[]', 'null', '"x"']) {
      expect(await tokenOf(text)).toBeUndefined()
      expect(await tokenOf(undefined, text)).toBeUndefined()
    }
    for (const providers of [null, [], { hub: null }, { hub: 5 }, { hub: { apiKey: 5 } }])
      expect(await tokenOf(undefined, { providers })).toBeUndefined()
  })

  it('runs a command once, as pi does, and says nothing of one that fails', async () => {
    const place = placeWith({ hub: { type: 'api_key', key: '!echo x >> "$COUNT"; wc -l < "$COUNT"' } })
    const token = storedProviderToken(place.paths.agentDir, { ...ENV, COUNT: join(place.root, 'count') })
    expect([await token('hub'), await token('hub')]).toEqual(['1', '1'])
    expect(await tokenOf({ hub: { type: 'api_key', key: '!echo secret; exit 1' } })).toBeUndefined()
  })

  it.each<[string, unknown, unknown?]>([
    ['a key', { hub: { type: 'api_key', key: 'k' } }],
    ['a key of several parts', { hub: { type: 'api_key', key: 'a-${ZQ_KEY}-$$b$!' } }],
    ['a variable of its own', { hub: { type: 'api_key', key: '$ZQ_KEY', env: { ZQ_KEY: 'own' } } }],
    ['a variable that is not set', { hub: { type: 'api_key', key: '$ZQ_NOT_SET' } }],
    ['a command', { hub: { type: 'api_key', key: '!echo from a command' } }],
    [
      'a command, which does not have its variables',
      { hub: { type: 'api_key', key: '!echo "${ZQ_OWN-none}"', env: { ZQ_OWN: 'own' } } },
    ],
    ['a key of models.json', undefined, configured('literal')],
    ['a variable of models.json', undefined, configured('$ZQ_KEY')],
    ['a command of models.json', undefined, configured('!echo configured')],
    ['both', { hub: { type: 'api_key', key: 'stored' } }, configured('configured')],
  ])('is the same as in pi: %s', async (_, auth, models) => {
    const { paths } = placeWith(auth, models ?? configured('unused'))
    const before = process.env['ZQ_KEY']
    process.env['ZQ_KEY'] = ENV.ZQ_KEY
    try {
      const pi = await ModelRuntime.create({
        authPath: join(paths.agentDir, 'auth.json'),
        modelsPath: join(paths.agentDir, 'models.json'),
        refreshOnCreate: false,
      })
      const theirs = (await pi.getAuth('hub').catch(() => undefined))?.auth.apiKey
      expect(await storedProviderToken(paths.agentDir, process.env)('hub')).toBe(theirs)
    } finally {
      if (before === undefined) delete process.env['ZQ_KEY']
      else process.env['ZQ_KEY'] = before
    }
  })

  it('of a provider that pi knows how to sign in to is the same as in pi', async () => {
    const { paths } = placeWith({ anthropic: { ...oauth, access: 'sk-ant-oat-x' }, radius: oauth })
    const pi = await ModelRuntime.create({
      authPath: join(paths.agentDir, 'auth.json'),
      modelsPath: join(paths.agentDir, 'models.json'),
      refreshOnCreate: false,
    })
    for (const provider of ['anthropic', 'radius']) {
      const theirs = (await pi.getAuth(provider))?.auth.apiKey
      expect(theirs).toBeDefined()
      expect(await storedProviderToken(paths.agentDir, ENV)(provider)).toBe(theirs)
    }
  })
})

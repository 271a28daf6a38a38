import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from '@tapline/core'
import { readEntry, type StoredEntry } from './credentials.ts'
import { type Env, resolveStored } from './stored-value.ts'

/**
 * Answers with what pi has of a model provider, where no pi runs that could renew it: the access token of a sign-in that
 * has not expired, else a stored key, else the key that `models.json` gives the provider. Never rejects: what cannot be
 * had is not there, and the server then says what it wants.
 */
export function storedProviderToken(agentDir: string, env: Env): NonNullable<Host['providerToken']> {
  // As pi, which runs such a command once: it may ask a person for something.
  const commands = new Map<string, Promise<string | undefined>>()
  const resolved = async (value: string, own: Env = {}): Promise<string | undefined> => {
    if (!value.startsWith('!')) return resolveStored(value, { ...env, ...own })
    // Without the variables of the entry, or one would be sent what another entry's command has printed.
    const run = async (): Promise<string | undefined> => resolveStored(value, env)
    const known = commands.get(value) ?? run().catch(() => undefined)
    commands.set(value, known)
    return known
  }
  const token = async (provider: string): Promise<string | undefined> => {
    const entry = readEntry(agentDir, provider)
    if (entry === undefined) {
      const key = configuredKey(agentDir, provider)
      return key === undefined ? undefined : resolved(key)
    }
    const { type, key, access, expires, env: own } = (entry ?? {}) as StoredEntry
    // What is stored owns the provider: nothing else stands in for a sign-in that has expired.
    if (type === 'oauth')
      return typeof access === 'string' && typeof expires === 'number' && expires > Date.now()
        ? access
        : undefined
    return typeof key === 'string' ? resolved(key, textsIn(own)) : undefined
  }
  return async (provider) => (await token(provider).catch(() => undefined)) || undefined
}

function configuredKey(agentDir: string, provider: string): string | undefined {
  const text = readFileSync(join(agentDir, 'models.json'), 'utf8').replace(/^\uFEFF/, '')
  const { providers } = (JSON.parse(text) ?? {}) as { providers?: Readonly<Record<string, unknown>> }
  if (typeof providers !== 'object' || providers === null || !Object.hasOwn(providers, provider))
    return undefined
  const { apiKey } = (providers[provider] ?? {}) as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : undefined
}

function textsIn(env: unknown): Env {
  if (typeof env !== 'object' || env === null) return {}
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

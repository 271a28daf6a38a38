import type { ConnectRequest, CredentialStore, Host, Plugin } from '@tapline/core'
import { CREDENTIAL_PREFIX, type Refusal, refusalOf, unsendable } from './rules.ts'
import { systemKeychain } from './system.ts'

export { type Refusal, refusalOf, unsendable } from './rules.ts'
export { KeychainError, SERVICE, systemKeychain } from './system.ts'
export type { SystemKeychain, SystemKeychainOptions } from './system.ts'

/** Options of the plugin. */
export interface KeychainOptions {
  /** What is asked first: the operating system's keychain when absent, nothing when false. */
  readonly system?: CredentialStore | false
}

/**
 * Finds the bearer credential that a server entry names, anew at each connect, and adds it to the
 * request. Nothing here logs, and no message names a reference: it may be a secret in the wrong field.
 */
export const keychain = ({ system }: KeychainOptions = {}): Plugin => ({
  name: 'keychain',
  api: 1,
  setup({ hooks, host }) {
    const first = system === false ? undefined : unnagging(system ?? systemKeychain(host.env))
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      const { transport } = request
      if (transport.type !== 'streamable-http' || transport.auth?.kind !== 'bearer') return undefined
      const { ref } = transport.auth
      const refusal = refusalOf(ref, request.server.source.scope, host)
      if (refusal) throw refused(refusal, request)
      const token = await find(ref, request, sourcesOf(ref, first?.(request), host))
      for (const name of Object.keys(request.headers)) {
        if (name.toLowerCase() === 'authorization') delete request.headers[name]
      }
      request.headers.Authorization = `Bearer ${token}`
      return undefined
    })
  },
})

/**
 * A keychain that could not be used is not asked again by attempts that nobody asked for: each would show its prompt
 * once more. The first attempt after somebody reconnects, or after a connection has lasted, asks it anew.
 */
function unnagging(store: CredentialStore): (request: ConnectRequest) => CredentialStore {
  let failure: { readonly thrown: unknown } | undefined
  return ({ attempt }) => ({
    label: store.label,
    read: async (ref) => {
      if (failure && attempt > 1) throw failure.thrown
      try {
        const value = await store.read(ref)
        failure = undefined
        return value
      } catch (thrown) {
        failure = { thrown }
        throw thrown
      }
    },
  })
}

function refused({ reason, advice }: Refusal, request: ConnectRequest): Error {
  return request.error('AUTH_FAILED', `configured bearer credential was refused; ${reason}`, { advice })
}

async function find(
  ref: string,
  request: ConnectRequest,
  sources: readonly CredentialSource[],
): Promise<string> {
  const unusable: string[] = []
  for (const { label, read } of sources) {
    let value: string | undefined
    try {
      value = await read()
    } catch (thrown) {
      unusable.push(sentence(label, thrown, ref))
      continue
    }
    if (value === undefined || value.trim() === '') continue
    const fault = unsendable(value)
    if (fault !== undefined) {
      const message = `configured bearer credential in ${label} cannot be sent; ${fault}`
      throw request.error('AUTH_FAILED', message, { advice: 'Store the credential again, in one line.' })
    }
    return value.trim()
  }
  const asked = sources.map(({ label }) => label)
  const where = asked.length === 0 ? 'there is no store to ask' : `asked: ${asked.join(', ')}`
  const message = ['configured bearer credential was not found', where, ...unusable].join('; ')
  throw request.error('CREDENTIAL_MISSING', message, {
    advice: `Store it in a shell with: tapline login ${request.server.name} --token`,
  })
}

interface CredentialSource {
  readonly label: string
  read(): Promise<string | undefined> | string | undefined
}

/** The operating system's keychain, the stores in the host's order, then the environment for names that are meant for it. */
function sourcesOf(
  ref: string,
  system: CredentialStore | undefined,
  { credentials = [], env }: Host,
): CredentialSource[] {
  const stores = [...(system ? [system] : []), ...credentials].map((store) => ({
    label: store.label,
    read: () => store.read(ref),
  }))
  if (!ref.startsWith(CREDENTIAL_PREFIX)) return stores
  return [
    ...stores,
    { label: 'the environment', read: () => (Object.hasOwn(env, ref) ? env[ref] : undefined) },
  ]
}

/** Why a store that has the credential gives nothing, without the reference. */
function sentence(label: string, thrown: unknown, ref: string): string {
  const reason = thrown instanceof Error ? thrown.message : 'it failed'
  return `${label}: ${ref === '' ? reason : reason.replaceAll(ref, '…')}`
}

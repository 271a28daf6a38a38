import type { ConnectRequest, Host, Plugin } from '@tapline/core'

/** What a reference must begin with where only such ones are allowed. */
const PREFIX = 'PI_MCP_TOKEN_'

/**
 * Finds the bearer credential that a server entry names, anew at each connect, and adds it to the
 * request. Nothing here logs, and no message names a reference: it may be a secret in the wrong field.
 */
export const keychain = (): Plugin => ({
  name: 'keychain',
  api: 1,
  setup({ hooks, host }) {
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      const { transport } = request
      if (transport.type !== 'streamable-http' || transport.auth?.kind !== 'bearer') return undefined
      const { ref } = transport.auth
      refuseForeign(ref, request, host)
      const token = await find(ref, request, host)
      for (const name of Object.keys(request.headers)) {
        if (name.toLowerCase() === 'authorization') delete request.headers[name]
      }
      request.headers.Authorization = `Bearer ${token}`
      return undefined
    })
  },
})

/**
 * A project's file is text of somebody else: were it free to name any credential, it could send the
 * key of a model provider to an address of its own.
 */
function refuseForeign(ref: string, request: ConnectRequest, host: Host): void {
  if (request.server.source.scope === 'project' && !ref.startsWith(PREFIX)) {
    throw request.error(
      'AUTH_FAILED',
      'configured bearer credential was refused; a project may name only credentials of its own',
      {
        advice: `Store the credential under a name that begins with ${PREFIX} and name that, or move the entry to the user’s file.`,
      },
    )
  }
  if ([ref, ref.trim(), ref.trim().toLowerCase()].some((name) => host.isModelProvider?.(name))) {
    throw request.error(
      'AUTH_FAILED',
      'configured bearer credential was refused; it is that of a model provider',
      {
        advice:
          'Credentials of model providers are never sent to a server: store one for the server under a name of its own.',
      },
    )
  }
}

async function find(ref: string, request: ConnectRequest, host: Host): Promise<string> {
  const unusable: string[] = []
  for (const { label, read } of sourcesOf(ref, host)) {
    let value: string | undefined
    try {
      value = await read()
    } catch (thrown) {
      unusable.push(sentence(label, thrown, ref))
      continue
    }
    if (value === undefined || value.trim() === '') continue
    // `fetch` would refuse it with a message that quotes it.
    if (!/^[\u0020-\u007E]+$/.test(value)) {
      throw request.error(
        'AUTH_FAILED',
        `configured bearer credential in ${label} cannot be sent; it holds a line break or another character that is not allowed`,
        {
          advice: 'Store the credential again, in one line.',
        },
      )
    }
    return value.trim()
  }
  const asked = sourcesOf(ref, host).map(({ label }) => label)
  const where = asked.length === 0 ? 'there is no store to ask' : `asked: ${asked.join(', ')}`
  const message = ['configured bearer credential was not found', where, ...unusable].join('; ')
  throw request.error('CREDENTIAL_MISSING', message, {
    advice: `Store the credential under the name in the entry, or set a ${PREFIX}* variable and name that, then reconnect.`,
  })
}

interface CredentialSource {
  readonly label: string
  read(): Promise<string | undefined> | string | undefined
}

/** The stores in the host's order, then the environment for names that are meant for it. */
function sourcesOf(ref: string, { credentials = [], env }: Host): CredentialSource[] {
  const stores = credentials.map((store) => ({ label: store.label, read: () => store.read(ref) }))
  if (!ref.startsWith(PREFIX)) return stores
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

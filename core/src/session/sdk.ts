import { findPackageJSON } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Client as ClientType, PriorDiscovery } from '@modelcontextprotocol/client'
import { TaplineError } from '../errors.ts'
import type { CallToolResult, HttpClientOptions, Transport } from '../types/index.ts'
import type { ClientOptions, ConnectOptions, Listening, Sdk, SdkClient, ToolPage } from './client.ts'
import { sdkError } from './sdk-errors.ts'

type SdkModule = typeof import('@modelcontextprotocol/client')
type SdkTransport = Parameters<ClientType['connect']>[0]

let loading: Promise<Sdk> | undefined

/** The official SDK's current client, loaded at the first call and kept for the process. */
export function loadSdk(): Promise<Sdk> {
  loading ??= importSdk()
  return loading
}

/** What it comes to is loaded in two parts: for the whole the event loop would stand still too long. */
async function importSdk(): Promise<Sdk> {
  await setImmediate()
  await importFirst('zod', 'v4/index.js')
  const module = await import('@modelcontextprotocol/client')
  await setImmediate()
  return adapt(module)
}

/** Loads a file of a package as the SDK itself will find it, where it does. */
async function importFirst(name: string, file: string): Promise<void> {
  try {
    const manifest = findPackageJSON(name, import.meta.resolve('@modelcontextprotocol/client'))
    if (manifest === undefined) return
    await import(new URL(file, pathToFileURL(manifest)).href)
    await setImmediate()
  } catch {
    // Then it is loaded with the rest.
  }
}

function adapt(module: SdkModule): Sdk {
  return {
    createClient: (options) => createClient(module, options),
    streamableHttp: (url, options) => streamableHttp(module, url, options),
  }
}

/** Results are handed on as the server sent them; validation costs more than it finds. */
const PASS_THROUGH = {
  '~standard': {
    version: 1,
    vendor: 'tapline',
    validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
  },
} as const

function createClient(module: SdkModule, options: ClientOptions): SdkClient {
  const redact = options.redact?.bind(options)
  const client = new module.Client(options.info, {
    capabilities: { roots: {} },
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: options.probeTimeoutMs } },
    listMaxPages: 64,
  })
  client.setRequestHandler('roots/list', () => ({ roots: [...options.roots()] }))
  client.onerror = (error) => options.onError(error)
  const guard = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (thrown) {
      throw sdkError(thrown, redact)
    }
  }
  const requestOptions = (signal: AbortSignal, timeoutMs: number) => ({ signal, timeout: timeoutMs })
  return {
    connect: (transport, { signal, timeoutMs, knownLegacy }: ConnectOptions) => {
      const prior: { prior?: PriorDiscovery } = knownLegacy ? { prior: { kind: 'legacy' } } : {}
      return guard(
        client.connect(transport as SdkTransport, { ...requestOptions(signal, timeoutMs), ...prior }),
      )
    },
    get era() {
      return client.getProtocolEra() ?? 'legacy'
    },
    get protocolVersion() {
      return client.getNegotiatedProtocolVersion()
    },
    get serverInfo() {
      return client.getServerVersion()
    },
    get capabilities() {
      return client.getServerCapabilities() ?? {}
    },
    get instructions() {
      return client.getInstructions()
    },
    request: (method, params, { signal, timeoutMs }) =>
      guard(
        client.request(
          { method, ...(params ? { params } : {}) } as never,
          PASS_THROUGH as never,
          requestOptions(signal, timeoutMs),
        ),
      ),
    callTool: async (params, { signal, timeoutMs, tool }) =>
      (await guard(
        client.callTool(params as never, {
          ...requestOptions(signal, timeoutMs),
          // The output schema stays out: a server that breaks its own promise still gets its answer through.
          ...(tool ? { toolDefinition: { name: tool.name, inputSchema: tool.inputSchema } as never } : {}),
        }),
      )) as CallToolResult,
    listTools: async (cursor, { signal, timeoutMs }) => {
      const params = cursor === undefined ? undefined : { cursor }
      const options = requestOptions(signal, timeoutMs)
      try {
        return (await client.listTools(params, { ...options, cacheMode: 'refresh' })) as unknown as ToolPage
      } catch (thrown) {
        // One bad tool fails the SDK's check of the whole page; which one it is, is for others to find.
        if ((thrown as { code?: unknown }).code !== 'INVALID_RESULT') throw sdkError(thrown, redact)
        const request = { method: 'tools/list', ...(params ? { params } : {}) }
        return await guard(client.request(request as never, PASS_THROUGH as never, options))
      }
    },
    listen: async (filter, { signal, timeoutMs }): Promise<Listening> => {
      const stream = await guard(client.listen({ ...filter }, requestOptions(signal, timeoutMs)))
      return { closed: stream.closed, honored: stream.honoredFilter, close: () => stream.close() }
    },
    notify: (method, params) => guard(client.notification({ method, ...(params ? { params } : {}) })),
    close: () => client.close(),
  }
}

function streamableHttp(module: SdkModule, url: URL, options: HttpClientOptions): Transport {
  const { reconnection } = options
  const transport = new module.StreamableHTTPClientTransport(url, {
    fetch: options.fetch,
    // Our fetch decides which redirects are followed.
    redirectPolicy: 'follow',
    ...(options.headers ? { requestInit: { headers: { ...options.headers } } } : {}),
    ...(reconnection
      ? {
          reconnectionOptions: {
            initialReconnectionDelay: reconnection.initialMs,
            maxReconnectionDelay: reconnection.maxMs,
            reconnectionDelayGrowFactor: reconnection.growFactor,
            maxRetries: reconnection.maxRetries,
          },
        }
      : {}),
  })
  if (typeof transport.send !== 'function')
    throw new TaplineError('CONNECT_FAILED', 'The SDK’s HTTP transport could not be made.')
  return transport as unknown as Transport
}

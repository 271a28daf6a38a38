import { findPackageJSON } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Client as ClientType, PriorDiscovery } from '@modelcontextprotocol/client'
import { messageOf, TaplineError } from '../errors.ts'
import type { CallToolResult, HttpClientOptions, Transport } from '../types/index.ts'
import type { ClientOptions, ConnectOptions, Listening, Sdk, SdkClient, ToolPage } from './client.ts'
import { sdkError } from './sdk-errors.ts'
import { DefaultJsonSchemaValidator } from './sdk-shims.ts'

type SdkModule = typeof import('./sdk-client.ts')
type SdkTransport = Parameters<ClientType['connect']>[0]

/** JSON-RPC 2.0. */
const INVALID_PARAMS = -32602

let loading: Promise<Sdk> | undefined

/** The official SDK's current client, loaded at the first call and kept for the process. */
export function loadSdk(): Promise<Sdk> {
  loading ??= importSdk()
  return loading
}

/** What it comes to is loaded in two parts: for the whole the event loop would stand still too long. */
async function importSdk(): Promise<Sdk> {
  await setImmediate()
  // What is published has them in one.
  if (import.meta.url.endsWith('.ts')) await importFirst('zod', 'v4/index.js')
  const module = await import('./sdk-client.ts')
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
    capabilities: { roots: {}, ...(options.elicit ? { elicitation: { form: {}, url: {} } } : {}) },
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: options.probeTimeoutMs } },
    listMaxPages: 64,
    jsonSchemaValidator: new DefaultJsonSchemaValidator(),
  })
  client.setRequestHandler('roots/list', () => ({ roots: [...options.roots()] }))
  const elicit = options.elicit?.bind(options)
  if (elicit) {
    const answer = async (
      params: unknown,
      { mcpReq }: { readonly mcpReq: { readonly signal: AbortSignal } },
    ) => {
      try {
        return await elicit(params, mcpReq.signal)
      } catch (thrown) {
        // A legacy server is told what is wrong with its question; a modern one asked in its answer to a call, which fails.
        if (client.getProtocolEra() === 'modern') throw thrown
        throw Object.assign(new Error(messageOf(thrown)), { code: INVALID_PARAMS })
      }
    }
    client.setRequestHandler('elicitation/create', { params: PASS_THROUGH } as never, answer as never)
  }
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

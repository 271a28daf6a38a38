import {
  createSession,
  type Frame,
  loadSdk,
  type ServerSpec,
  type Session,
  type SessionStatus,
  type TaplineError,
} from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import type { ConnectRequest, HttpTransportSpec, Plugin, Transport } from '@tapline/core'
import { streamableHttp } from '../src/index.ts'
import { Recorder } from './recorder.ts'

/** What a test may change of the server entry. */
export interface EntryChanges {
  readonly requestTimeoutMs?: number
  readonly reconnect?: Partial<ServerSpec['reconnect']>
  readonly transport?: Partial<HttpTransportSpec>
  readonly plugins?: readonly Plugin[]
  readonly refundAfterMs?: number
}

/** A session over the plugin, with all that it reported. */
export interface Client extends AsyncDisposable {
  readonly session: Session
  readonly transports: readonly Transport[]
  readonly requests: readonly ConnectRequest[]
  readonly notifications: Recorder<Frame>
  /** One item each time the catalogue has to be fetched anew; the first is the connect. */
  readonly stale: Recorder<number>
  readonly statuses: Recorder<SessionStatus>
  readonly errors: TaplineError[]
}

/** A session with the server at `url`; nothing is awaited yet. */
export async function createClient(url: string, changes: EntryChanges = {}): Promise<Client> {
  const { kernel, dispose } = await testKernel([...(changes.plugins ?? []), streamableHttp()], {
    host: { name: 'tapline', version: '9.9.9' },
  })
  const sdk = await loadSdk()
  const transports: Transport[] = []
  const requests: ConnectRequest[] = []
  const notifications = new Recorder<Frame>()
  const stale = new Recorder<number>()
  const statuses = new Recorder<SessionStatus>()
  const errors: TaplineError[] = []
  const session = createSession({
    server: entry(url, changes),
    cwd: '/',
    info: { name: 'test', version: '0.0.0' },
    sdk: () => Promise.resolve(sdk),
    ...(changes.refundAfterMs === undefined ? {} : { refundAfterMs: changes.refundAfterMs }),
    transportFor: async (request) => {
      requests.push(request)
      const transport = await kernel.hooks.connect.promise(request)
      if (transport) transports.push(transport)
      return transport
    },
    onNotification: (frame) => notifications.push(frame),
    onCatalogueStale: () => stale.push(Date.now()),
    onStatus: (status) => statuses.push(status),
    onError: (error) => errors.push(error),
  })
  return {
    session,
    transports,
    requests,
    notifications,
    stale,
    statuses,
    errors,
    [Symbol.asyncDispose]: async () => {
      await session.close()
      await dispose()
    },
  }
}

/** The same, connected. */
export async function connect(url: string, changes?: EntryChanges): Promise<Client> {
  const client = await createClient(url, changes)
  await client.session.ready()
  return client
}

/** What `promise` is rejected with. */
export function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('This should have been rejected.')
    },
    (thrown: unknown) => thrown as Error,
  )
}

/** What a call of the tool is rejected with. */
export function failureOf(client: Client): Promise<Error> {
  return rejectionOf(client.session.callTool('echo', {}))
}

/** Everything that an error could show of itself. */
export function shownOf(error: unknown): string {
  const parts: string[] = []
  for (let each = error; each instanceof Error; each = each.cause) {
    parts.push(each.message, JSON.stringify((each as { data?: unknown }).data ?? ''))
  }
  return parts.join('\n')
}

function entry(url: string, changes: EntryChanges): ServerSpec {
  return {
    name: 'subject',
    dialect: 'test',
    source: { label: 'test', scope: 'user' },
    enabled: true,
    transport: {
      type: 'streamable-http',
      url,
      headers: {},
      sseIdleTimeoutMs: 30_000,
      bodyCapBytes: 1_048_576,
      ...changes.transport,
    },
    requestTimeoutMs: changes.requestTimeoutMs ?? 5_000,
    reconnect: { initialMs: 100, maxMs: 400, maxAttempts: 5, ...changes.reconnect },
    naming: 'mcp',
    exposure: 'codemode',
    toolExposure: {},
    results: { maxBytes: 20_480, overflow: 'temporary-file' },
    push: {},
  }
}

import { TaplineError } from '../errors.ts'
import type { CallToolResult, ServerSpec } from '../types/index.ts'
import { callTool, type CallOptions, runRequest } from './call.ts'
import type { ToolPage } from './client.ts'
import type { Connection } from './connection.ts'
import type { SupervisorOptions } from './options.ts'
import { sdkError } from './sdk-errors.ts'
import type { SessionStatus } from './status.ts'
import { Supervisor } from './supervisor.ts'

/** What {@link createSession} takes. */
export type SessionOptions = SupervisorOptions

/** One server, supervised. Every rejection is a TaplineError. */
export interface Session {
  readonly server: ServerSpec
  readonly status: SessionStatus
  /** Begins to connect, in the background. */
  start(): void
  /** Resolves when connected; rejects with the reason when this attempt fails or `signal` aborts. */
  ready(signal?: AbortSignal): Promise<void>
  /** Calls a tool. Waits for the connection when there is none yet. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<CallToolResult>
  /** One page of the server's tools; the caller follows `nextCursor`. */
  listTools(cursor?: string): Promise<ToolPage>
  /** Any other request; the result is handed on as the server sent it. */
  request(method: string, params?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>
  /** Sends a notification. Rejects when there is no connection: nothing is sent later. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): Promise<void>
  /** Drops the connection, if any, and opens a new one at once with a full budget. */
  reconnect(): Promise<void>
  /** Ends the server's processes within a bounded time. Final. */
  close(): Promise<void>
}

/** A supervised session over the SDK: reconnects, opens lost sessions again, listens again. */
export function createSession(options: SessionOptions): Session {
  const { server } = options
  const supervisor = new Supervisor(options)

  /**
   * A call that was rejected unheard is sent once more on a new connection: when the server forgot the
   * session, or no longer takes the credentials, which are looked up anew.
   */
  const withConnection = async <T>(
    signal: AbortSignal | undefined,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> => {
    if (!supervisor.connection) await supervisor.ready(signal)
    const connection = supervisor.connection
    if (!connection) throw supervisor.notConnected()
    try {
      return await use(connection)
    } catch (thrown) {
      const error = sdkError(thrown)
      const unheard =
        error.code === 'SESSION_LOST' || (error.code === 'AUTH_FAILED' && error.data.status === 401)
      if (!unheard || supervisor.closed) throw error
      await supervisor.reopen(connection)
      const next = supervisor.connection
      if (!next) throw supervisor.notConnected()
      return await use(next)
    }
  }

  return {
    server,
    get status() {
      return supervisor.status
    },
    start: () => supervisor.start(),
    ready: (signal) => supervisor.ready(signal),
    reconnect: () => supervisor.reconnect(),
    close: () => supervisor.close(),
    notify: async (method, params) => {
      if (!supervisor.connection) throw supervisor.notConnected()
      await supervisor.connection.client.notify(method, params)
    },
    callTool: (name, args, callOptions = {}) =>
      withConnection(callOptions.signal, (connection) =>
        callTool(connection, server, name, args, callOptions),
      ),
    listTools: (cursor) => withConnection(undefined, (connection) => listTools(connection, server, cursor)),
    request: (method, params, callOptions = {}) =>
      withConnection(callOptions.signal, (connection) =>
        runRequest(
          connection,
          server,
          `${method} of server "${server.name}"`,
          callOptions,
          (signal, timeoutMs, progressToken) =>
            connection.client.request(method, withToken(params, progressToken), { signal, timeoutMs }),
        ),
      ),
  }
}

async function listTools(
  connection: Connection,
  server: ServerSpec,
  cursor: string | undefined,
): Promise<ToolPage> {
  if (connection.client.capabilities.tools === undefined) return { tools: [] }
  const page = await runRequest(
    connection,
    server,
    `tools/list of server "${server.name}"`,
    {},
    (signal, timeoutMs) =>
      connection.era === 'modern'
        ? connection.client.listTools(cursor, { signal, timeoutMs })
        : (connection.client.request('tools/list', cursor === undefined ? undefined : { cursor }, {
            signal,
            timeoutMs,
          }) as Promise<ToolPage>),
  )
  if (Array.isArray(page?.tools)) return page
  const message = 'The server answered tools/list with something that holds no tools.'
  throw new TaplineError('PROTOCOL', message, { server: server.name })
}

function withToken(
  params: Readonly<Record<string, unknown>> | undefined,
  progressToken: string,
): Readonly<Record<string, unknown>> {
  return { ...params, _meta: { ...(params?._meta as object | undefined), progressToken } }
}

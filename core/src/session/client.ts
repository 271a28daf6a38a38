import type {
  CallToolResult,
  ElicitationAnswer,
  HttpClientOptions,
  ServerTool,
  Transport,
} from '../types/index.ts'

/** `legacy`: revisions up to 2025-11-25 (initialize). `modern`: 2026-07-28 and later (server/discover). */
export type Era = 'legacy' | 'modern'

/** What a client tells about itself and where it reports. */
export interface ClientOptions {
  readonly info: { readonly name: string; readonly version: string }
  /** Removes the secrets of this connection from what the SDK says, before it is cut. */
  redact?(text: string): string
  /** How long the probe for a modern server may take, in milliseconds. */
  readonly probeTimeoutMs: number
  /** Answers `roots/list`. */
  roots(): readonly { readonly uri: string; readonly name?: string }[]
  /**
   * Answers `elicitation/create`, whose params it is handed as they came; the capability is declared where it is there.
   * Rejects with a TaplineError where they ask nothing that can be asked.
   */
  elicit?(params: unknown, signal: AbortSignal): Promise<ElicitationAnswer>
  /** Told of what went wrong out of band. May quote the server: never show it. */
  onError(error: unknown): void
}

/** Options of the handshake. */
export interface ConnectOptions {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Skips the probe: the server is known to be a legacy one. */
  readonly knownLegacy: boolean
}

/** Options of one request. */
export interface RequestOptions {
  readonly signal: AbortSignal
  /** Hard limit in milliseconds. */
  readonly timeoutMs: number
}

/** One page of `tools/list`. */
export interface ToolPage {
  readonly tools: readonly ServerTool[]
  readonly nextCursor?: string
}

/** What a listen stream asks for (specification 2026-07-28, basic/patterns/subscriptions). */
export interface ListenFilter {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  readonly resourceSubscriptions?: string[] | undefined
}

/** An open listen stream. */
export interface Listening {
  /** Resolves once: `local` when we closed it, else how it ended. */
  readonly closed: Promise<'local' | 'graceful' | 'remote'>
  /** What of the filter the server agreed to. */
  readonly honored: ListenFilter
  close(): Promise<void>
}

/** One client of one connection, as the session needs it. Every rejection is a TaplineError. */
export interface SdkClient {
  connect(transport: Transport, options: ConnectOptions): Promise<void>
  readonly era: Era
  readonly protocolVersion: string | undefined
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: RequestOptions,
  ): Promise<unknown>
  callTool(
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions & { readonly tool?: ServerTool },
  ): Promise<CallToolResult>
  listTools(cursor: string | undefined, options: RequestOptions): Promise<ToolPage>
  listen(filter: ListenFilter, options: RequestOptions): Promise<Listening>
  notify(method: string, params?: Readonly<Record<string, unknown>>): Promise<void>
  close(): Promise<void>
}

/** The SDK behind one file: the session runs over any implementation of this. */
export interface Sdk {
  createClient(options: ClientOptions): SdkClient
  streamableHttp(url: URL, options: HttpClientOptions): Transport
}

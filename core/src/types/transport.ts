import type { ErrorCode, ErrorDetails } from '../errors.ts'
import type { ServerSpec } from './server.ts'

/** Any JSON-RPC 2.0 message: request, notification, result or error response. */
export interface Frame {
  readonly jsonrpc: '2.0'
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Options of {@link Transport.send}; a transport may ignore any of them. */
export interface SendOptions {
  readonly relatedRequestId?: string | number
  readonly requestSignal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  readonly [option: string]: unknown
}

/** What a transport knows about its connection beyond frames. Text is free of control characters. */
export interface TransportReport {
  /** Last non-blank line of stderr, at most 200 characters. */
  readonly lastStderr?: string
  /** The last lines of stderr, at most 8 KiB. */
  readonly stderrTail?: string
  /** Lines that were not JSON-RPC and were skipped. */
  readonly skippedLines?: number
  /** `none`: the server offers no event stream; tools work, notifications do not arrive. */
  readonly pushStream?: 'open' | 'connecting' | 'none'
  /** How the connection ended, as a person is told: `server exited with code 3`. */
  readonly ending?: string
}

/**
 * A connection that carries frames, in the shape of the official SDK's `Transport`. A transport that
 * has both `pid` and `stderr` is taken for a child process (the SDK probes such ones in place).
 */
export interface Transport {
  start(): Promise<void>
  send(frame: Frame, options?: SendOptions): Promise<void>
  /** Ends the connection within a bounded time and fires `onclose` once. Safe to call twice. */
  close(): Promise<void>
  onmessage?: ((frame: Frame, extra?: unknown) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  /** Fires when the server no longer knows the session although nobody is calling (HTTP 404 on the event stream). */
  onsessionlost?: (() => void) | undefined
  /** Fires when the event stream is open again after a break: what changed meanwhile must be listed anew. */
  onpushresumed?: (() => void) | undefined
  /**
   * Fires each time the event stream is refused for its credentials, with an AUTH_FAILED error: core looks them up anew
   * for a stream that was open, or tells the person. Whether the stream is asked for again is the transport's affair.
   */
  onpushrefused?: ((error: Error) => void) | undefined
  /** Fires when {@link report} has news worth showing. */
  onreport?: (() => void) | undefined
  readonly sessionId?: string | undefined
  readonly hasPerRequestStream?: boolean
  setProtocolVersion?(version: string): void
  setSupportedProtocolVersions?(versions: string[]): void
  report?(): TransportReport
  readonly pid?: number | null
  readonly stderr?: unknown
}

/** Options of the SDK's streamable HTTP transport that a plugin may set. */
export interface HttpClientOptions {
  /** Every request goes through this. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  readonly headers?: Readonly<Record<string, string>>
  readonly reconnection?: {
    readonly initialMs: number
    readonly maxMs: number
    readonly growFactor: number
    readonly maxRetries: number
  }
}

/**
 * A request for a connection. Early taps of the `connect` hook may change `env`, `headers` and
 * `transport`; the first tap that answers a transport has claimed it.
 */
export interface ConnectRequest {
  readonly server: ServerSpec
  /** A copy of `server.transport` that taps may replace. */
  transport: ServerSpec['transport']
  /** Further environment for a child process. Values may be secret: never log them. */
  readonly env: Record<string, string>
  /** Further headers for HTTP. Values may be secret: never log them. */
  readonly headers: Record<string, string>
  readonly cwd: string
  /** 1 for the first attempt. */
  readonly attempt: number
  readonly signal: AbortSignal
  /**
   * Makes the requests of HTTP transports, which follow redirects themselves; the platform's when absent. A tap that
   * authorizes each request puts its own in front of it. An error of {@link error} that it throws is handed on.
   */
  fetch?: (url: URL, init: RequestInit) => Promise<Response>
  /** Values that are never shown, beside those of `env` and `headers`. It may grow while the connection lives. */
  readonly secrets?: Set<string>
  /** Fills in what a value of the entry refers to, as its dialect has it; absent where values stand for themselves. */
  resolve?: (value: string, subject: string) => Promise<string>
  /** The SDK's streamable HTTP transport, so that plugins need not import the SDK. */
  streamableHttp(url: URL, options: HttpClientOptions): Promise<Transport>
  /** An error of Tapline's own class, so that plugins need not import it. */
  error(code: ErrorCode, message: string, details?: ErrorDetails): Error
}

import type { Diagnostic } from './diagnostic.ts'
import type { PushPolicies } from './policy.ts'

/** How a tool reaches the model (pi's `docs/mcp.md`, "Control tool exposure"). */
export type Exposure = 'codemode' | 'deferred' | 'direct' | 'hidden'

/**
 * How tools are named: `mcp` is `mcp__<server>__<tool>`, `original` the server's own name (with
 * `<server>_` in front on a collision), `server` is `<server>__<tool>`.
 */
export type ToolNaming = 'mcp' | 'original' | 'server'

/** Where an entry was read. `user` files belong to the person, `project` files to a directory. */
export interface ServerSource {
  /** The file, or what registered the server, as the user is shown it. */
  readonly label: string
  readonly scope: 'user' | 'project' | 'session'
  readonly path?: string
  readonly line?: number
  /** The project's file that overrides `enabled`, `exposure` or `toolExposure`: later changes go there. */
  readonly override?: string
}

/** A server that runs as a child process. */
export interface StdioTransportSpec {
  readonly type: 'stdio'
  /** One executable, not a shell command. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Absolute; the session's directory when absent. */
  readonly cwd?: string
  /** Whether the child inherits the whole environment. False gives the platform's necessities and `env`. */
  readonly inheritEnv: boolean
}

/** A bearer credential by reference. The value itself never stands in a specification. */
export interface BearerReference {
  readonly kind: 'bearer'
  readonly ref: string
}

/** A server reached over streamable HTTP. */
export interface HttpTransportSpec {
  readonly type: 'streamable-http'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth?: BearerReference
  /** Silence on the event stream after which it is reopened, in milliseconds. */
  readonly sseIdleTimeoutMs: number
  /** Largest response body and largest event, in bytes. */
  readonly bodyCapBytes: number
  /** Fields of the dialect that later plugins read (for example `oauth`). */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A transport that a third party's plugin provides. */
export interface CustomTransportSpec {
  readonly type: 'custom'
  /** The transport's name, for example `websocket`. */
  readonly name: string
  /** What its plugin reads. */
  readonly config: Readonly<Record<string, unknown>>
}

/** How a server is reached. */
export type TransportSpec = StdioTransportSpec | HttpTransportSpec | CustomTransportSpec

/** Back-off of the reconnect loop. Delay before attempt n+1 is `min(maxMs, initialMs * 2^(n-1))`, ±20 %. */
export interface ReconnectSpec {
  readonly initialMs: number
  readonly maxMs: number
  /** Attempts in a row, the first connect included, before the server counts as disconnected. */
  readonly maxAttempts: number
}

/** How much of a result the model sees; scripts always get the whole. */
export interface ResultSpec {
  /** Text above this many bytes is cut in the middle. */
  readonly maxBytes: number
  /** Where the whole goes: a temporary file, or unipi's private directory. */
  readonly overflow: 'temporary-file' | 'artifact'
}

/** One configured server, whatever dialect it was written in. */
export interface ServerSpec {
  /** Unique; `-` counts as `_`. Letters, digits, `_` and `-`. */
  readonly name: string
  /** The dialect that read it: `mcp.json`, `mcp.toml`, `unipi`, `registered`, or a third party's. */
  readonly dialect: string
  readonly source: ServerSource
  readonly enabled: boolean
  readonly description?: string
  readonly transport: TransportSpec
  /** Time a request may take without an answer or progress, in milliseconds. */
  readonly requestTimeoutMs: number
  readonly reconnect: ReconnectSpec
  readonly naming: ToolNaming
  readonly exposure: Exposure
  /** Exact tool names or `*` patterns; exact names win, then the first pattern. */
  readonly toolExposure: Readonly<Record<string, Exposure>>
  readonly results: ResultSpec
  /** Push policies by method; see {@link PushPolicies}. */
  readonly push: PushPolicies
  /** Resources whose changes are subscribed to: addresses, or patterns with `*` over the server's own list. */
  readonly subscribe?: readonly string[]
  /** Whether the server may speak in the chat as a channel: what it sends starts turns with its content. */
  readonly channel?: boolean
  /** False: the server is not told that the person can be asked, and asks nothing (elicitation). */
  readonly elicitation?: boolean
}

/** A question whose answer decides whether a file is used (DESIGN decision 8). */
export interface TrustQuestion {
  readonly path: string
  /** The project directory that the yes is saved for. */
  readonly directory: string
  /** The file's exact content: the yes is tied to it. */
  readonly content: string
  /** Every command, address and credential reference in the file, one a line, nothing secret. */
  readonly facts: readonly string[]
}

/** What the `config` hook passes from dialect to dialect. */
export interface ConfigState {
  readonly servers: readonly ServerSpec[]
  readonly diagnostics: readonly Diagnostic[]
  readonly questions: readonly TrustQuestion[]
  /** `autoEnableCodemode` of mcp.json, the project's before the user's. Absent: true. */
  readonly autoEnableCodemode?: boolean
}

/** What a dialect is told. */
export interface ConfigContext {
  readonly cwd: string
  readonly home: string
  readonly agentDir: string
  /** `<agent dir>/loops`, or `PI_LOOPS_DIR`. */
  readonly loopsDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** pi's own project trust. It guards `.pi/mcp.json` and nothing else. */
  readonly projectTrusted: boolean
  /** The saved answer for a file of ours with exactly this content; undefined when nobody was asked. */
  trustOf(path: string, directory: string, content: string): boolean | undefined
  /** Servers that other extensions registered: name, raw entry in mcp.json's shape, and who. */
  readonly registered: readonly { readonly name: string; readonly config: unknown; readonly by: string }[]
  readonly signal: AbortSignal
}

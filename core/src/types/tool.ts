import type { Exposure, ServerSpec } from './server.ts'

/** A JSON Schema (draft-07 or 2020-12) as the server sent it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Hints of a server about its tool. Not verified (specification 2025-11-25, server/tools). */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A tool as `tools/list` gave it. */
export interface ServerTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
  readonly annotations?: ToolAnnotations
}

/** A tool on its way to the model; the `registerTool` hook shapes it. */
export interface ToolSpec {
  /** The name the model calls, at most 64 characters of `[A-Za-z0-9_-]`. */
  readonly name: string
  readonly server: ServerSpec
  readonly serverTool: ServerTool
  readonly label: string
  readonly description: string
  /** An object schema in canonical key order. */
  readonly parameters: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly exposure: Exposure
  /** Set aside: not registered, with the reason that diagnostics show. */
  readonly hidden?: string
}

/** What taps of `registerTool` are told. */
export interface RegisterContext {
  /** Whether another tool already has this name. */
  taken(name: string): boolean
}

/** One block of a tool result (specification 2025-11-25, server/tools). */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource'
      readonly resource: {
        readonly uri: string
        readonly mimeType?: string
        readonly text?: string
        readonly blob?: string
      }
    }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly title?: string
      readonly description?: string
      readonly mimeType?: string
      readonly size?: number
    }

/** The answer of `tools/call`. */
export interface CallToolResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Progress of a running call (specification 2025-11-25, basic/utilities/progress). */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

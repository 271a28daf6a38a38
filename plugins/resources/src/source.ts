import type { ContentBlock, Exposure } from '@tapline/core'

/** A server whose resources the tools reach, as the program around them gives it. */
export interface ResourceServer {
  /** As it is configured, which is how the model names it. */
  readonly name: string
  /** Sends a request and answers its result as the server sent it. An error's `data.status` is that of HTTP. */
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown>
}

/** What a tool answers. */
export interface ResourceAnswer {
  /** The server that the call was about; empty when it was about all of them. */
  readonly server: string
  /** Content blocks as those of a tool's result, what the model is to be shown of the answer. */
  readonly content: readonly ContentBlock[]
  /** For scripts: whole. */
  readonly structuredContent: Readonly<Record<string, unknown>>
}

/** The widest of these: the tools reach every one of the servers. Undefined when there is none, or all are hidden. */
export function widestExposure(exposures: Iterable<Exposure>): Exclude<Exposure, 'hidden'> | undefined {
  const found = new Set(exposures)
  return (['direct', 'codemode', 'deferred'] as const).find((exposure) => found.has(exposure))
}

/** The server of this name, or an error that says which there are. */
export function serverNamed(servers: readonly ResourceServer[], name: string): ResourceServer {
  const server = servers.find((candidate) => candidate.name === name)
  if (server) return server
  const known = servers.map((candidate) => candidate.name).join(', ')
  throw new Error(
    `MCP server "${name}" has no resources${known === '' ? '' : `. Servers with resources: ${known}`}`,
  )
}

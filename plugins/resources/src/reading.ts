import type { ContentBlock } from '@tapline/core'
import { isRecord } from './pages.ts'
import { retried } from './retry.ts'
import { type ResourceAnswer, type ResourceServer, serverNamed } from './source.ts'

/** Reads one resource. Several contents, for example those of a directory, are labelled with their addresses. */
export async function read(
  name: string,
  uri: string,
  servers: readonly ResourceServer[],
  signal: AbortSignal | undefined,
): Promise<ResourceAnswer> {
  const server = serverNamed(servers, name)
  const contents = contentsIn(await retried(() => server.request('resources/read', { uri }, signal), signal))
  const several = contents.length > 1
  const blocks = contents.flatMap((resource): ContentBlock[] => [
    ...(several ? [{ type: 'text', text: `${resource.uri}:` } as const] : []),
    { type: 'resource', resource },
  ])
  return {
    server: server.name,
    content: blocks.length > 0 ? blocks : [{ type: 'text', text: `Resource ${uri} is empty.` }],
    structuredContent: {
      server: server.name,
      uri,
      contents: contents.map(({ _meta, ...rest }) => rest),
    },
  }
}

/** Text, or a blob in base64; whatever else a server sent stays with it. */
interface Contents {
  readonly uri: string
  readonly text?: string
  readonly blob?: string
  readonly _meta?: unknown
}

function contentsIn(result: unknown): readonly Contents[] {
  if (!isRecord(result) || !Array.isArray(result['contents']))
    throw new Error('Invalid MCP resources/read result')
  return result['contents'].map((contents: unknown) => {
    if (!isContents(contents)) throw new Error('Invalid contents in MCP resources/read result')
    return contents
  })
}

function isContents(value: unknown): value is Contents {
  if (!isRecord(value) || typeof value['uri'] !== 'string') return false
  return typeof value['text'] === 'string' || typeof value['blob'] === 'string'
}

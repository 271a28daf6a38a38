import type { CallToolResult, ToolSpec } from '@tapline/core'
import { blockContent, type BlockContext } from './blocks.ts'
import { imageJudge } from './images.ts'
import { limitContent, type ModelContent, type SaveFile } from './limiting.ts'
import { isMirrored } from './mirroring.ts'

/** What {@link toModelResult} needs besides the result. */
export interface ResultOptions {
  readonly saveFile: SaveFile
  /** Whether `read_mcp_resource` reaches this server: links then say so. */
  readonly readableResources?: boolean
}

/** A result in the shape of pi's tool results. */
export interface ModelResult {
  readonly content: readonly ModelContent[]
  readonly isError: boolean
  readonly details: { readonly server: string; readonly tool: string; readonly fullOutputPath?: string }
  /** For scripts: what the server sent, without `_meta`. Never cut. */
  readonly full: Omit<CallToolResult, '_meta'>
}

/** What the model is given of a result: bounded, nothing twice, nothing dropped without a word. */
export async function toModelResult(
  result: CallToolResult,
  spec: Pick<ToolSpec, 'server' | 'serverTool'>,
  options: ResultOptions,
): Promise<ModelResult> {
  const { server, serverTool } = spec
  const { saveFile, readableResources = false } = options
  const asPi = isPiDialect(server.dialect)
  const artifact = server.results.overflow === 'artifact'
  const context: BlockContext = {
    server: server.name,
    readableResources,
    savesAudio: !asPi,
    // UniPi's directory keeps text; images are represented by their type.
    savesImages: !artifact,
    namesImages: artifact,
    saveFile,
    judgeImage: imageJudge(),
  }
  const content: ModelContent[] = []
  for (const block of result.content) content.push(...(await blockContent(block, context)))
  const structured = structuredText(result, content, asPi)
  if (structured !== undefined) content.push({ type: 'text', text: structured })
  const isError = result.isError === true
  if (isError && !content.some((block) => block.type === 'text' && block.text !== '')) {
    content.push({ type: 'text', text: `MCP tool ${server.name}/${serverTool.name} returned an error` })
  }
  if (content.length === 0 && !asPi) content.push({ type: 'text', text: '(no content)' })
  const limited = await limitContent(content, { maxBytes: server.results.maxBytes, hard: !asPi, saveFile })
  const { _meta: _, ...full } = result
  const { fullOutputPath } = limited
  return {
    content: limited.content,
    isError,
    details: {
      server: server.name,
      tool: serverTool.name,
      ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
    },
    full,
  }
}

/** Servers of mcp.json, and those that extensions register, answer exactly as under pi's own support. */
function isPiDialect(dialect: string): boolean {
  return dialect === 'mcp.json' || dialect === 'registered'
}

/** Structured content as text, where nothing else says it. pi shows it only when there is nothing else. */
function structuredText(
  result: CallToolResult,
  content: readonly ModelContent[],
  asPi: boolean,
): string | undefined {
  const { structuredContent } = result
  if (structuredContent === undefined || (asPi && content.length > 0)) return undefined
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (isMirrored(structuredContent, texts)) return undefined
  return JSON.stringify(structuredContent, null, 2).toWellFormed()
}

import type { ToolDefinition } from '@earendil-works/pi-coding-agent'
import { isTaplineError } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { callResourceTool as answerOf, type ResourceAnswer, type ResourceTool } from '@tapline/resources'
import { limitContent, type ModelContent, saveOutput, toModelResult } from '@tapline/tools'
import { assertReachable, unsettled } from '../reach.ts'

/** What a list may show to the model in bytes, as pi has it, whichever servers it is of. */
const MOST_LISTED = 20 * 1_024

type Result = Awaited<ReturnType<ToolDefinition['execute']>>

/** One call of a resource tool. */
export interface ResourceToolCall {
  readonly tool: ResourceTool
  readonly params: unknown
  readonly signal: AbortSignal | undefined
  readonly tapline: Pick<Tapline, 'servers' | 'server'>
  /** The home directory. */
  readonly home: string
  /** The servers that the tools reach, once those that this call waits for have settled. */
  reached(): readonly Server[]
}

/** Calls a resource tool: waits for the servers that it may need, and answers as pi's tools do. */
export async function callResourceTool(call: ResourceToolCall): Promise<Result> {
  const { tool, params, signal, tapline, home } = call
  await Promise.all(concerned(tapline, params).map((server) => server.settled(signal)))
  try {
    const servers = call.reached().map((server) => ({
      name: server.spec.name,
      request: async (
        method: string,
        given: Readonly<Record<string, unknown>> | undefined,
        abort: AbortSignal | undefined,
      ) => {
        assertReachable(server)
        return server.session.request(method, given, abort ? { signal: abort } : {})
      },
    }))
    const answer = await answerOf(tool.name, params, { servers, signal })
    const read = tool.name === 'read_mcp_resource' ? tapline.server(answer.server) : undefined
    const { content, fullOutputPath } = await shown(tool, answer, read, home)
    return {
      content: [...content],
      details: {
        server: answer.server,
        tool: tool.name,
        ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
      },
      // It came as JSON, which its type does not say.
      structuredContent: answer.structuredContent as NonNullable<Result['structuredContent']>,
    }
  } catch (thrown) {
    if (isTaplineError(thrown) && thrown.code === 'CANCELLED') throw new Error('cancelled', { cause: thrown })
    throw thrown
  }
}

/** The servers that this call has to wait for: the one that it names, else all. */
function concerned({ servers }: Pick<Tapline, 'servers'>, params: unknown): readonly Server[] {
  const named: unknown = (params as { readonly server?: unknown } | null | undefined)?.server
  const one = servers.filter(({ spec }) => typeof named === 'string' && spec.name === named.trim())
  return unsettled((one.length > 0 ? one : servers).filter(({ spec }) => spec.enabled))
}

/** What the model is shown: what is read is limited as the server's other results are; lists are text of ours. */
async function shown(
  { name }: ResourceTool,
  { content }: ResourceAnswer,
  server: Server | undefined,
  home: string,
): Promise<{ readonly content: readonly ModelContent[]; readonly fullOutputPath?: string }> {
  if (!server) {
    const saveFile = saveOutput('temporary-file', { home })
    return limitContent(content as readonly ModelContent[], { maxBytes: MOST_LISTED, hard: false, saveFile })
  }
  const { spec } = server
  const saveFile = saveOutput(spec.results.overflow, { home })
  const as = { server: spec, serverTool: { name, inputSchema: {} } }
  const result = await toModelResult({ content }, as, { saveFile })
  return { content: result.content, ...result.details }
}

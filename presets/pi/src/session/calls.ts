import type { ToolDefinition } from '@earendil-works/pi-coding-agent'
import { isTaplineError, type Progress, type ToolSpec } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { saveOutput, toModelResult } from '@tapline/tools'

type Execute = ToolDefinition['execute']
type Call = [Parameters<Execute>[1], Parameters<Execute>[2], Parameters<Execute>[3]]
type JsonContent = NonNullable<Awaited<ReturnType<Execute>>['structuredContent']>

/**
 * Calls a tool of a server: progress becomes updates, the answer a result as the model and scripts read it. The last
 * argument says whether the model can read the resources that the result links to.
 */
export async function callServer(
  server: Server,
  spec: ToolSpec,
  home: string,
  ...[params, signal, onUpdate, readsResources]: [...Call, (() => boolean)?]
): ReturnType<Execute> {
  const details = { server: spec.server.name, tool: spec.serverTool.name }
  try {
    const args = (params ?? {}) as Record<string, unknown>
    const result = await server.session.callTool(spec.serverTool.name, args, {
      tool: spec.serverTool,
      ...(signal ? { signal } : {}),
      onProgress: (progress) =>
        onUpdate?.({ content: [{ type: 'text', text: progressText(progress) }], details }),
    })
    const shown = await toModelResult(result, spec, {
      saveFile: saveOutput(spec.server.results.overflow, { home }),
      readableResources: readsResources?.() === true,
    })
    return {
      content: [...shown.content],
      details: { ...details, ...shown.details },
      structuredContent: jsonOf(shown.full),
      ...(shown.isError ? { isError: true } : {}),
    }
  } catch (thrown) {
    if (isTaplineError(thrown) && thrown.code === 'CANCELLED') throw new Error('cancelled', { cause: thrown })
    throw thrown
  }
}

/** A result came as JSON, which its type does not say. */
function jsonOf(full: unknown): JsonContent {
  return full as JsonContent
}

function progressText({ progress, total, message }: Progress): string {
  return message ?? `Progress ${progress}${total === undefined ? '' : `/${total}`}`
}

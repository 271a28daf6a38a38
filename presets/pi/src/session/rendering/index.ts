import type { ToolRenderers } from '@earendil-works/pi-coding-agent'
import { drawCall } from './call.ts'
import { drawResult } from './result.ts'

/** How calls of a server's tool with this title are drawn. */
export function renderersOf(title: string): Required<Pick<ToolRenderers, 'renderCall' | 'renderResult'>> {
  return {
    renderCall: (args: unknown, theme, context) => drawCall(title, args, theme, context),
    renderResult: (result, { expanded }, theme, context) => drawResult(result, expanded, theme, context),
  }
}

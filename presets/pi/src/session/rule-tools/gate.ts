import { createHash } from 'node:crypto'
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { redact } from '@tapline/headless'
import { confirm } from '../approvals.ts'
import { shownText } from '../rules-text.ts'

const LONGEST_PREVIEW = 200
/** In the terminal it is read in pages: all that a rule may say. */
const LONGEST_IN_PAGES = 10_000

/** A change that a model asks for and a person decides on. */
export interface Change {
  readonly tool: string
  /** What happens, without any value: `create a rule`. */
  readonly action: string
  /** Why it is asked about, without any value. */
  readonly reason: string
  readonly args: unknown
  /** What it is about, as the person recognises it: a line each, of which every one is seen. */
  readonly preview: readonly string[]
}

/**
 * Asks the person. Throws what the model is told when the answer is no, and when there is nobody to ask: nothing of
 * it happens then.
 */
export async function approve(
  ctx: ExtensionContext,
  { tool, action, reason, args, preview }: Change,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!ctx.hasUI) throw new Error(`${tool} requires interactive confirmation; use the slash command instead`)
  const limit = ctx.mode === 'tui' ? LONGEST_IN_PAGES : LONGEST_PREVIEW
  ctx.ui.notify(`approval required: ${tool} (${action})`, 'info')
  const yes = await confirm(ctx, {
    toolName: tool,
    input: args,
    title: 'Control-plane approval required',
    message: [
      `Action: ${action}`,
      `Tool: ${tool}`,
      `Reason: ${reason}`,
      `Args hash: ${createHash('sha256').update(JSON.stringify(args)).digest('hex').slice(0, 12)}`,
      ...preview.map((line, index) => `${index === 0 ? 'Preview: ' : ''}${shown(line, limit)}`),
    ].join('\n'),
    ...(signal ? { signal } : {}),
  })
  ctx.ui.notify(`${yes ? 'approved' : 'denied'}: ${tool} (${action})`, 'info')
  if (!yes) throw new Error(`${tool} was denied by the user; nothing was changed`)
}

/** Redacted before it is cut, so that no half of a secret is left. */
function shown(text: string, limit: number): string {
  return shownText(redact(text), limit)
}

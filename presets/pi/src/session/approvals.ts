import type { ExtensionContext, ExtensionUIDialogOptions } from '@earendil-works/pi-coding-agent'

/** The call that a dialog asks about. */
export interface AskedCall {
  readonly toolName: string
  /** Its arguments. */
  readonly input: unknown
}

/** Options of a dialog of pi. Where channels are asked too, `relay` says about which call, or that they are not to be asked. */
export interface ApprovalOptions extends ExtensionUIDialogOptions {
  readonly relay?: AskedCall | false
  /** Draws the dialog in another way than pi does, where channels are asked too; the signal closes it. */
  readonly show?: (signal: AbortSignal | undefined) => Promise<boolean>
}

/** What {@link confirm} asks. */
export interface Approval extends AskedCall {
  readonly title: string
  readonly message: string
  /** Ends the question with a no. */
  readonly signal?: AbortSignal
}

/**
 * Asks whether a tool call may go on, in pi's own dialogs; channels that the person lets answer approvals are asked
 * at the same time, and the first answer counts. Without a user interface the answer is no.
 */
export async function confirm(
  { ui, hasUI, mode }: Pick<ExtensionContext, 'ui' | 'hasUI' | 'mode'>,
  { title, message, signal, ...call }: Approval,
): Promise<boolean> {
  if (!hasUI) return false
  const options: ApprovalOptions = { relay: call, ...(signal ? { signal } : {}) }
  if (mode !== 'tui') return ui.confirm(title, message, options)
  const { confirmIn } = await import('./dialogs/index.ts')
  const inPages: ApprovalOptions = {
    ...options,
    show: (signal) =>
      confirmIn({ ui, mode }, title, message, { ...UNRELAYED, ...(signal ? { signal } : {}) }),
  }
  return ui.confirm(title, message, inPages)
}

/** Options of a dialog that is this person's alone: trust, consent, credentials, and what their own commands ask. */
export const UNRELAYED: ApprovalOptions = { relay: false }

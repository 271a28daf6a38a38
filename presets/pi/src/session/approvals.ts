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
}

/** What {@link confirm} asks. */
export interface Approval extends AskedCall {
  readonly title: string
  readonly message: string
  /** Ends the question with a no. */
  readonly signal?: AbortSignal
}

/**
 * Asks whether a tool call may go on. The dialog is pi's own; channels that the person lets answer approvals are asked
 * at the same time, and the first answer counts. Without a user interface the answer is no.
 */
export async function confirm(
  { ui, hasUI }: Pick<ExtensionContext, 'ui' | 'hasUI'>,
  { title, message, signal, ...call }: Approval,
): Promise<boolean> {
  if (!hasUI) return false
  const options: ApprovalOptions = { relay: call, ...(signal ? { signal } : {}) }
  return ui.confirm(title, message, options)
}

/** Options of a dialog that is this person's alone: trust, consent, credentials, and what their own commands ask. */
export const UNRELAYED: ApprovalOptions = { relay: false }

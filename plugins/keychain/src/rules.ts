import type { Host, ServerSource } from '@tapline/core'

/** What a reference must begin with where only such ones are allowed. */
export const CREDENTIAL_PREFIX = 'PI_MCP_TOKEN_'

/** Why a credential is never sent, and what to do: sentences without the reference. */
export interface Refusal {
  readonly reason: string
  readonly advice: string
}

/**
 * Whether a server entry may not name this credential. A project's file is text of somebody else: were it free to name
 * any, it could send the key of a model provider to an address of its own.
 */
export function refusalOf(
  ref: string,
  scope: ServerSource['scope'],
  host: Pick<Host, 'isModelProvider'>,
): Refusal | undefined {
  if (scope === 'project' && !ref.startsWith(CREDENTIAL_PREFIX)) {
    return {
      reason: 'a project may name only credentials of its own',
      advice: `Store the credential under a name that begins with ${CREDENTIAL_PREFIX} and name that, or move the entry to the user’s file.`,
    }
  }
  if ([ref, ref.trim(), ref.trim().toLowerCase()].some((name) => host.isModelProvider?.(name))) {
    return {
      reason: 'it is that of a model provider',
      advice:
        'Credentials of model providers are never sent to a server: store one for the server under a name of its own.',
    }
  }
  return undefined
}

/** What is wrong with a value that cannot stand in a header: `fetch` would refuse it with a message that quotes it. */
export function unsendable(value: string): string | undefined {
  return /^[\u0020-\u007E]+$/.test(value)
    ? undefined
    : 'it holds a line break or another character that is not allowed'
}

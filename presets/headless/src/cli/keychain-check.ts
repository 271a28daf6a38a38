import { messageOf } from '@tapline/core'
import { systemKeychain } from '@tapline/keychain'
import type { Tapline } from '../host/tapline.ts'
import type { CommandContext } from './command.ts'

/** A name that nobody gives a credential. */
const NOBODY = 'tapline doctor'

/** The operating system's keychain, where a server's entry names a credential. */
export interface KeychainCheck {
  readonly label: string
  readonly answers: boolean
  /** Why it does not answer. */
  readonly reason?: string
}

/** Whether the keychain answers; undefined when no enabled server needs one, so that nobody is asked to unlock it. */
export async function keychainCheck(
  { env }: CommandContext,
  { servers, kernel }: Tapline,
): Promise<KeychainCheck | undefined> {
  const isNeeded = servers.some(
    ({ spec: { enabled, transport } }) =>
      enabled && transport.type === 'streamable-http' && transport.auth !== undefined,
  )
  if (!isNeeded || !kernel.plugins.includes('keychain')) return undefined
  const keychain = systemKeychain(env)
  try {
    await keychain.read(NOBODY)
    return { label: keychain.label, answers: true }
  } catch (thrown) {
    return { label: keychain.label, answers: false, reason: messageOf(thrown) }
  }
}

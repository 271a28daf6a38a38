import type { OAuthSteps } from '@tapline/core'
import type { OAuthSettings } from './settings.ts'
import type { Owner, TokenFile } from './tokens/file.ts'

/** What the sign-in of one server stands on. */
export interface AccountOptions {
  readonly owner: Owner
  readonly file: TokenFile
  steps(): Promise<OAuthSteps>
  /** The entry's settings, resolved anew. Rejects with what cannot be resolved. */
  settings(): Promise<OAuthSettings>
  /** Told of every value that must never be shown. */
  secret(value: string): void
  /** The person has to sign in, or has to no more. */
  onNeed(needed: boolean): void
}

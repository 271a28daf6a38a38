import type { OAuthTokens } from '@tapline/core'
import type { Stored } from './stored.ts'

/** A token is renewed this long before it expires, or a quarter of its life where that is less. */
const SKEW_MS = 30_000

/** Whether the tokens have expired, or are about to. */
export function isExpiring({ tokens, tokensExpireAt }: Stored): boolean {
  if (tokensExpireAt === undefined) return false
  const lifeMs = (tokens?.expires_in ?? Number.POSITIVE_INFINITY) * 1000
  return tokensExpireAt - Math.min(SKEW_MS, Math.max(0, lifeMs / 4)) <= Date.now()
}

/** `tokensExpireAt` of tokens that were just given. */
export function endOf({ expires_in: seconds }: OAuthTokens): { readonly tokensExpireAt?: number } {
  if (seconds === undefined || !Number.isFinite(seconds)) return {}
  return { tokensExpireAt: Date.now() + seconds * 1000 }
}

import type { OAuthChallenge } from '@tapline/core'
import type { AccountOptions } from './account-options.ts'
import { renewOnce } from './renewal.ts'
import { scopesOf } from './settings.ts'
import { isExpiring } from './tokens/expiry.ts'
import type { Stored } from './tokens/stored.ts'

/** A renewal that failed for want of an answer is not tried again at once by every request. */
const PAUSE_MS = 5_000

/** The sign-in of one server in this process: its token, renewed when it must be. */
export class Account {
  /** Replaced when the entry changes. */
  options: AccountOptions
  /** What the server demanded last; a sign-in answers it. */
  challenge: OAuthChallenge | undefined
  /** The token that was refused although it was fresh: renewing it again leads nowhere. */
  hopeless: string | undefined
  #renewing: Promise<string | undefined> | undefined
  #failure: { readonly error: Error; readonly at: number } | undefined
  /** The stored token when a sign-in became necessary. */
  #needed: { readonly token: string | undefined } | undefined

  constructor(options: AccountOptions) {
    this.options = options
  }

  /** The token to send, renewed when it is about to expire; undefined when there is none. Never rejects. */
  async token(): Promise<string | undefined> {
    await this.#renewing?.catch(() => undefined)
    const stored = await this.stored()
    const token = stored?.tokens?.access_token
    if (stored?.tokens?.refresh_token === undefined || !isExpiring(stored)) return this.#known(token)
    try {
      return (await this.renew(token)) ?? this.#known(token)
    } catch {
      // It goes out as it is: what the server answers decides.
      return this.#known(token)
    }
  }

  /**
   * Replaces a token that expired or was refused, once however many ask, also over several processes: a token that
   * another one has put there meanwhile is taken as it is. Undefined: the person has to sign in. Rejects when nobody
   * answered.
   */
  async renew(stale: string | undefined): Promise<string | undefined> {
    // Where nothing is stored there is nothing to wait for.
    if (stale === undefined) return this.#known((await this.stored())?.tokens?.access_token)
    if (this.#failure && performance.now() - this.#failure.at < PAUSE_MS) throw this.#failure.error
    this.#renewing ??= renewOnce(this, stale)
      .then(
        (token) => {
          this.#failure = undefined
          return this.#known(token)
        },
        (thrown: unknown) => {
          const error = thrown instanceof Error ? thrown : new Error(String(thrown))
          this.#failure = { error, at: performance.now() }
          throw error
        },
      )
      .finally(() => (this.#renewing = undefined))
    return await this.#renewing
  }

  /** Resolves when no renewal runs: one that was answered may have replaced the refresh token, which must be kept. */
  async settled(): Promise<void> {
    await this.#renewing?.catch(() => undefined)
  }

  /** What is stored for this server. */
  async stored(): Promise<Stored | undefined> {
    const stored = await this.options.file.read(this.options.owner)
    for (const value of secretsIn(stored)) this.options.secret(value)
    return stored
  }

  /** Notes what the server demands. More permissions stay demanded until somebody signs in. */
  demand(challenge: OAuthChallenge): void {
    const earlier = this.challenge?.error === 'insufficient_scope' ? this.challenge : undefined
    const scope = scopesOf(earlier?.scope, challenge.scope)
    this.challenge = {
      ...challenge,
      ...(earlier ? { error: 'insufficient_scope' } : {}),
      ...(scope === undefined ? {} : { scope }),
    }
  }

  /** The server wants the person to sign in. */
  async need(challenge: OAuthChallenge): Promise<void> {
    this.demand(challenge)
    this.#needed = { token: (await this.stored())?.tokens?.access_token }
    this.options.onNeed(true)
  }

  /** The server took the token, or the person has signed in. */
  done(): void {
    if (!this.#needed) return
    this.#needed = undefined
    this.options.onNeed(false)
  }

  /** Whether somebody has signed in since that became necessary, here or in another process. */
  async signedInSince(): Promise<boolean> {
    if (!this.#needed) return false
    const token = (await this.stored())?.tokens?.access_token
    return token !== undefined && token !== this.#needed.token
  }

  #known(token: string | undefined): string | undefined {
    if (token !== undefined) this.options.secret(token)
    return token
  }
}

function secretsIn(stored: Stored | undefined): string[] {
  const { tokens, clientInformation } = stored ?? {}
  return [
    tokens?.access_token,
    tokens?.refresh_token,
    tokens?.id_token,
    clientInformation?.client_secret,
  ].filter((value) => value !== undefined)
}

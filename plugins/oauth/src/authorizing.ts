import type { ConnectRequest, OAuthChallenge } from '@tapline/core'
import { unlessAborted } from './aborting.ts'
import type { Account } from './account.ts'
import { isTransient } from './renewal.ts'

type Send = NonNullable<ConnectRequest['fetch']>

/**
 * Sends each request of a connection with the account's token, and once more when the server refuses it and a renewed
 * one is to be had. What only the person can settle is an AUTH_FAILED error that says how. The token goes to the origin
 * of the entry's address and nowhere else.
 */
export function authorizing(send: Send, account: Account, request: ConnectRequest): Send {
  const { origin } = new URL(account.options.owner.url)
  return async (url, init) => {
    // A credential of somebody else's goes before ours.
    if (url.origin !== origin || new Headers(init.headers).has('authorization')) return send(url, init)
    const token = await unlessAborted(account.token(), init.signal)
    const response = await send(url, withToken(init, token))
    const challenge = await challengeIn(response, account)
    if (challenge === undefined) {
      if (response.ok && token !== undefined) account.done()
      return response
    }
    // The end of a session is not worth a renewal.
    if (init.method === 'DELETE') return response
    await response.body?.cancel()
    // A renewed token has the scope of the old one.
    if (challenge.error === 'insufficient_scope') throw await tooLittle(account, challenge, request)
    // Any other body may be gone with the first request.
    const again = init.body == null || typeof init.body === 'string'
    const renewed = again ? await renewal(account, token, challenge, init, request) : undefined
    if (renewed === undefined || renewed === token) throw await refused(account, challenge, request)
    const second = await send(url, withToken(init, renewed))
    const still = await challengeIn(second, account)
    if (still === undefined) {
      if (second.ok) account.done()
      return second
    }
    await second.body?.cancel()
    if (still.error === 'insufficient_scope') throw await tooLittle(account, still, request)
    account.hopeless = renewed
    throw await refused(account, still, request)
  }
}

/** What a refusal demands; undefined for every other answer. */
async function challengeIn(response: Response, account: Account): Promise<OAuthChallenge | undefined> {
  if (response.status !== 401 && response.status !== 403) return undefined
  const challenge = (await account.options.steps()).challengeOf(response)
  // 403 without that demand is the server's last word on this request.
  return response.status === 401 || challenge.error === 'insufficient_scope' ? challenge : undefined
}

async function renewal(
  account: Account,
  token: string | undefined,
  challenge: OAuthChallenge,
  init: RequestInit,
  request: ConnectRequest,
): Promise<string | undefined> {
  account.demand(challenge)
  try {
    return await unlessAborted(account.renew(token), init.signal)
  } catch (thrown) {
    if (init.signal?.aborted) throw init.signal.reason
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    const message = `The sign-in could not be renewed: ${reason}`
    // Nobody answered: the tokens may still be good, and the connection is tried again with back-off.
    if (isTransient(thrown)) throw request.error('CONNECT_FAILED', message, { cause: thrown })
    await account.need(challenge)
    throw request.error('AUTH_FAILED', message, {
      advice: howTo(request),
      data: { status: 401, signIn: true },
      cause: thrown,
    })
  }
}

async function refused(account: Account, challenge: OAuthChallenge, request: ConnectRequest): Promise<Error> {
  await account.need(challenge)
  return request.error('AUTH_FAILED', 'The server wants you to sign in.', {
    advice: howTo(request),
    data: { status: 401, signIn: true },
  })
}

/** It is the answer to one call: whoever reads that is told the way. */
async function tooLittle(
  account: Account,
  challenge: OAuthChallenge,
  request: ConnectRequest,
): Promise<Error> {
  await account.need(challenge)
  const { quote } = await account.options.steps()
  const scopes = challenge.scope === undefined ? '' : ` (${quote(challenge.scope, 200)})`
  const message = `The server wants more permissions than the last sign-in gave${scopes}: /mcp login ${request.server.name} asks for them.`
  return request.error('AUTH_FAILED', message, {
    advice: howTo(request),
    data: { status: 403, signIn: true },
  })
}

function howTo({ server: { name } }: ConnectRequest): string {
  return `Sign in with /mcp login ${name}, or in a shell with: tapline login ${name}`
}

function withToken(init: RequestInit, token: string | undefined): RequestInit {
  if (token === undefined) return init
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}

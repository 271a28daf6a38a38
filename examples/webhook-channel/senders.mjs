import { createHash, timingSafeEqual } from 'node:crypto'

const SHORTEST = 16
const digest = (text) => createHash('sha256').update(text).digest()

/**
 * Who may write, from "alice:TOKEN,bob:TOKEN"; undefined when there is nobody, or a token is too short to be one. A
 * channel that does not check who writes lets anybody tell the model what to do.
 */
export function readSenders(tokens = '') {
  const senders = tokens.split(',').map((entry) => {
    const [, name, token = ''] = /^\s*([\w.-]+):(.*?)\s*$/.exec(entry) ?? []
    return { name, token }
  })
  if (senders.some(({ name, token }) => name === undefined || token.length < SHORTEST)) return undefined
  return {
    names: senders.map(({ name }) => name),
    /** Whose token stands in an Authorization header. */
    named(authorization = '') {
      const given = digest(authorization.replace(/^Bearer /i, ''))
      // Every token is compared, each in the same time: how long it takes says nothing.
      return senders.filter(({ token }) => timingSafeEqual(digest(token), given))[0]?.name
    },
  }
}

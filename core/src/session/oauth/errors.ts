import { isTaplineError, TaplineError } from '../../errors.ts'
import { redactText } from '../../redaction.ts'
import { cleanText, cut } from '../../text.ts'

/** Longest quotation of an authorization server. */
const LONGEST = 300

/** The SDK's own classes of errors, as far as they are told apart. */
export interface ErrorClasses {
  readonly OAuthError: abstract new (...args: never[]) => { readonly code: string; readonly message: string }
  readonly RegistrationRejectedError: abstract new (...args: never[]) => {
    readonly status: number
    readonly body: string
  }
  readonly InsecureTokenEndpointError: abstract new (...args: never[]) => object
  readonly IssuerMismatchError: abstract new (...args: never[]) => object
}

/** Our error for what a step threw; `known` are the secrets of that step. */
export function stepError(
  thrown: unknown,
  what: string,
  classes: ErrorClasses,
  known: readonly string[],
): TaplineError {
  if (isTaplineError(thrown)) return thrown
  if (thrown instanceof classes.RegistrationRejectedError) return rejected(thrown, known)
  if (thrown instanceof classes.OAuthError) {
    // What is no OAuth answer is told as a `server_error` that quotes the body.
    const { code } = thrown
    const vague = code === 'server_error' && /Invalid OAuth error response/.test(thrown.message)
    const status = /^HTTP (\d{3}): /.exec(thrown.message)?.[1]
    const said = vague ? `HTTP ${status ?? 'error'}` : describe(code, thrown.message, known)
    const transient =
      (vague && status?.startsWith('5')) || /^(?:server_error|temporarily_unavailable|slow_down)$/.test(code)
    return new TaplineError('AUTH_FAILED', `The authorization server refused ${what}: ${said}.`, {
      data: { oauth: code, ...(transient ? { transient } : {}) },
      cause: thrown,
    })
  }
  if (thrown instanceof classes.InsecureTokenEndpointError) {
    return new TaplineError(
      'AUTH_FAILED',
      'The authorization server’s token address is plain http: tokens are not sent there.',
      { cause: thrown },
    )
  }
  if (thrown instanceof classes.IssuerMismatchError) return foreignIssuer(thrown)
  const { name, message } = (thrown ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  if (name === 'ZodError' || name === 'SyntaxError' || name === '$ZodError') {
    return new TaplineError(
      'AUTH_FAILED',
      `What the authorization server answered to ${what} is not usable.`,
      {
        cause: thrown,
      },
    )
  }
  const said = quoted(typeof message === 'string' ? message : 'no reason was given', LONGEST, known)
  return new TaplineError('AUTH_FAILED', `${capital(what)} failed: ${said}`, { cause: thrown })
}

/** A response that names another authorization server than the one that was asked; it is not quoted. */
export function foreignIssuer(cause?: unknown): TaplineError {
  return new TaplineError(
    'AUTH_FAILED',
    'The answer does not come from the authorization server that was asked: it names another issuer, or none.',
    { advice: 'Begin the sign-in again, and only approve what you began yourself.', cause },
  )
}

/** Words from outside on one line, without what looks like a secret and without `known`. */
export function quoted(words: string, limit: number, known: readonly string[] = []): string {
  const secrets = known.filter(({ length }) => length >= 6)
  return cut(redactText(cleanText(words, limit * 4), secrets), limit)
}

function rejected(
  thrown: { readonly status: number; readonly body: string },
  known: readonly string[],
): TaplineError {
  const said = registrationWords(thrown.body, known)
  return new TaplineError(
    'AUTH_FAILED',
    `The authorization server does not register this client (HTTP ${thrown.status}${said}).`,
    {
      advice:
        'Set "clientId" in the entry’s "oauth" to a client that is registered there, or another "clientName".',
      cause: thrown,
    },
  )
}

function registrationWords(body: string, known: readonly string[]): string {
  try {
    const { error, error_description: description } = JSON.parse(body) as Record<string, unknown>
    return typeof error === 'string'
      ? `: ${describe(error, typeof description === 'string' ? description : '', known)}`
      : ''
  } catch {
    return ''
  }
}

function describe(code: string, description: string, known: readonly string[]): string {
  const [name, words] = [quoted(code, 60, known), quoted(description, LONGEST, known).replace(/\.$/, '')]
  return words === '' || words === name ? name : `${name} (${words})`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

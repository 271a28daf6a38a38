import { TaplineError } from '../errors.ts'
import { redactText } from '../redaction.ts'
import { cleanText } from '../text.ts'
import type { ConnectRequest, TransportReport } from '../types/index.ts'
import { sdkError } from './sdk-errors.ts'

/** Removes secrets from a text. */
export type Redact = (text: string) => string

/** Shorter values are no secrets, and their removal would make holes in every sentence. */
const SHORTEST = 6
const PLAIN_HEADER = /^(?:accept|content-type|user-agent|mcp-.*)$/i
const SECRET_HEADER = /auth|token|key|secret|cookie|passw/i

/** Removes what looks like a secret, and whatever the taps and the address of this request hold. */
export function redactorFor(request: ConnectRequest): Redact {
  const fixed = secretsOf(request)
  let known: readonly string[] = []
  let counted = -1
  return (text) => {
    const { secrets } = request
    const count = secrets?.size ?? 0
    if (count !== counted) {
      counted = count
      const all = new Set([...fixed, ...(secrets ?? [])].flatMap(formsOf))
      known = [...all].toSorted((a, b) => b.length - a.length)
    }
    return redactText(text, known)
  }
}

/** Our error for `thrown`, without secrets; the error underneath is left out where it held them. */
export function safeError(thrown: unknown, redact: Redact): TaplineError {
  const error = sdkError(thrown, redact)
  const [message, advice] = [redact(error.message), redact(error.advice)]
  if (message === error.message && advice === error.advice) return error
  return new TaplineError(error.code, message, { ...error.place, advice, data: error.data })
}

/** What a transport says of itself, without secrets. */
export function safeReport(report: TransportReport, redact: Redact): TransportReport {
  const { lastStderr, stderrTail, ending } = report
  if (lastStderr === undefined && stderrTail === undefined && ending === undefined) return report
  return {
    ...report,
    ...(lastStderr === undefined ? {} : { lastStderr: redact(lastStderr) }),
    ...(stderrTail === undefined ? {} : { stderrTail: redact(stderrTail) }),
    ...(ending === undefined ? {} : { ending: redact(ending) }),
  }
}

function secretsOf({ headers, env, transport }: ConnectRequest): string[] {
  const values = Object.values(env)
  const fixed = transport.type === 'streamable-http' ? transport.headers : {}
  for (const [, value] of [
    ...Object.entries(headers).filter(([name]) => !PLAIN_HEADER.test(name)),
    ...Object.entries(fixed).filter(([name]) => SECRET_HEADER.test(name)),
  ]) {
    // A server may quote the credential without its scheme.
    values.push(value, /^\w+\s+(\S+)$/.exec(value)?.[1] ?? '')
  }
  const url = transport.type === 'custom' ? transport.config.url : (transport as { url?: unknown }).url
  if (typeof url === 'string' && URL.canParse(url)) {
    const { searchParams, username, password } = new URL(url)
    values.push(...searchParams.values(), username, password)
  }
  return values.filter((value) => typeof value === 'string')
}

/** As it is, as a text that was cleaned holds it, and as an address or JSON would. */
function formsOf(value: string): string[] {
  const forms = [
    value,
    cleanText(value, value.length),
    encodeURIComponent(value.toWellFormed()),
    JSON.stringify(value).slice(1, -1),
  ]
  return forms.filter((form) => form.length >= SHORTEST)
}

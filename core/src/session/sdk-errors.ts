import { isTaplineError, messageOf, TaplineError } from '../errors.ts'
import { redactText } from '../redaction.ts'
import { cleanText, cut } from '../text.ts'
import { NO_ANSWER } from './answers.ts'

interface ThrownBySdk {
  readonly name?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: { readonly status?: unknown; readonly method?: unknown } | undefined
}

const ASK_LESS = 'Call the tool with all that it needs, so that it need not ask.'

/** What to do about errors by which a server asks something, where nobody has been asked. */
const WANTS_ANSWERS: Readonly<Record<number, string>> = {
  // MissingRequiredClientCapability (2026-07-28), URLElicitationRequired (2025-11-25).
  [-32_021]: ASK_LESS,
  [-32_042]: 'Call it in pi, where you are asked to open what it needs.',
}

/**
 * Our error for anything an SDK of either line throws, told apart by shape, not by class. Bodies of
 * HTTP errors are never quoted; a server's own JSON-RPC message is, cleaned, bounded and without secrets.
 */
export function sdkError(thrown: unknown, redact: (text: string) => string = redactText): TaplineError {
  if (isTaplineError(thrown)) return thrown
  const nested = causeOf(thrown)
  if (nested !== undefined) return nested
  const { name, code, message, data } = (thrown ?? {}) as ThrownBySdk
  const status = typeof data?.status === 'number' ? data.status : httpStatus(code, name)
  if (status !== undefined) return httpError(status, thrown)
  if (name === 'UnauthorizedError') return httpError(401, thrown)
  if (code === NO_ANSWER)
    return new TaplineError(
      'PROTOCOL',
      'The server answered with something that is neither a result nor an error.',
      { cause: thrown },
    )
  if (typeof code === 'number') {
    // The maintenance line tells its own failures by codes, and puts them in front of a server's words.
    if (code === -32000 && message === 'MCP error -32000: Connection closed') return closed(thrown)
    if (code === -32001 && message === 'MCP error -32001: Request timed out') return timedOut(thrown)
    if (String(message).startsWith('Invalid elicitation request: '))
      return new TaplineError(
        'PROTOCOL',
        'The server asks something back in a way that the protocol does not have.',
        {
          advice: ASK_LESS,
          cause: thrown,
        },
      )
    const words = String(message).replace(`MCP error ${code}: `, '')
    return new TaplineError(
      'PROTOCOL',
      `The server answered with error ${code}: ${quoted(words, 500, redact)}`,
      {
        data: { code },
        ...(code in WANTS_ANSWERS ? { advice: WANTS_ANSWERS[code] } : {}),
        cause: thrown,
      },
    )
  }
  switch (code) {
    case 'CONNECTION_CLOSED':
    case 'NOT_CONNECTED':
      return closed(thrown)
    case 'REQUEST_TIMEOUT':
      return timedOut(thrown)
    case 'CAPABILITY_NOT_SUPPORTED':
      return new TaplineError(
        'PROTOCOL',
        `The server asks something back (${cleanText(String(data?.method), 40)}) before it answers, and here nobody is asked that.`,
        { advice: ASK_LESS, cause: thrown },
      )
    case 'INPUT_REQUIRED_ROUNDS_EXCEEDED':
      return new TaplineError(
        'PROTOCOL',
        'The server asks something back again and again, and does not answer.',
        {
          advice: ASK_LESS,
          cause: thrown,
        },
      )
    case 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION':
      return new TaplineError('PROTOCOL', 'The server’s protocol revision does not have this method.', {
        cause: thrown,
      })
    case 'INVALID_RESULT':
      return new TaplineError('CONNECT_FAILED', misshapen(messageOf(thrown), redact), {
        advice: 'Look for another version of the server.',
        cause: thrown,
      })
    default:
      if (message === 'Not connected') return closed(thrown)
      return new TaplineError('CONNECT_FAILED', quoted(messageOf(thrown), 300, redact), { cause: thrown })
  }
}

/** Secrets go before the cut: half of one would not be known any more. */
function quoted(words: string, limit: number, redact: (text: string) => string): string {
  return cut(redact(cleanText(words, limit * 8)), limit)
}

/** What is wrong with an answer; the SDK says how it was checked, as JSON. */
function misshapen(message: string, redact: (text: string) => string): string {
  const [, method, why = ''] = /^Invalid result for (\S+): ([\s\S]*)$/.exec(message) ?? []
  const answer = method === undefined ? 'answer' : `answer to ${cleanText(method, 60)}`
  const parts = partsOf(why)?.join(', ') ?? why
  const named = parts === '' ? '' : `: ${quoted(parts, 300, redact)}`
  return `The server’s ${answer} is not as the protocol has it${named}.`
}

/** The fields that a check complains of. */
function partsOf(json: string): readonly string[] | undefined {
  try {
    const issues = JSON.parse(json) as readonly { readonly path: readonly unknown[] }[]
    return [...new Set(issues.map(({ path }) => path.join('.')))].filter(Boolean)
  } catch {
    return undefined
  }
}

function timedOut(cause: unknown): TaplineError {
  return new TaplineError('REQUEST_TIMEOUT', 'The server did not answer in time.', { cause })
}

function closed(cause: unknown): TaplineError {
  return new TaplineError('CONNECTION_CLOSED', 'The connection was closed.', { cause })
}

function httpStatus(code: unknown, name: unknown): number | undefined {
  return typeof code === 'number' &&
    code >= 100 &&
    code < 600 &&
    name !== 'ProtocolError' &&
    name !== 'McpError'
    ? code
    : undefined
}

function httpError(status: number, cause: unknown): TaplineError {
  if (status === 401 || status === 403) {
    return new TaplineError('AUTH_FAILED', `The server refused the credentials (HTTP ${status}).`, {
      data: { status },
      cause,
    })
  }
  return new TaplineError(
    'CONNECT_FAILED',
    `The server answered HTTP ${status}; the response body is not shown.`,
    { data: { status }, cause },
  )
}

/** Our own fetch throws our errors; the SDK wraps some of them. */
function causeOf(thrown: unknown): TaplineError | undefined {
  let current: unknown = thrown
  for (let depth = 0; depth < 4; depth++) {
    if (isTaplineError(current)) return current
    current = (current as { cause?: unknown } | null | undefined)?.cause
  }
  return undefined
}

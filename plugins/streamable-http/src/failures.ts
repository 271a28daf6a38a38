import type { ConnectRequest } from '@tapline/core'

/** Every error of this transport. None quotes what a server sent, and of addresses only the origin is named. */
export type Failures = ReturnType<typeof failuresOf>

/** How the entry of a server says who is calling: by a header of its own, by a stored token, or not. */
export type Credential = 'header' | 'token' | 'none'

/** Whose connection it is, and where it leads. */
export interface FailurePlace {
  readonly origin: string
  /** The server's name. */
  readonly server: string
  readonly credential: Credential
}

/** The errors of one connection. */
export function failuresOf(error: ConnectRequest['error'], { origin, server, credential }: FailurePlace) {
  return {
    credentials: (status: number) => {
      const what = credential === 'none' ? 'the credentials' : 'its credential'
      return error('AUTH_FAILED', `The server refused ${what} (HTTP ${status}).`, {
        advice: `${(status === 403 ? FORBIDDEN : UNAUTHORIZED)[credential](server)}, then /mcp reconnect it.`,
        data: { status },
      })
    },

    sessionLost: (status: number) =>
      error('SESSION_LOST', `The server no longer knows the session (HTTP ${status}).`, { data: { status } }),

    redirect: (target: string) =>
      error('CONNECT_FAILED', `${origin} redirects to another origin, ${target}, which is not followed.`, {
        advice: 'If that is the right server, use its address in the server entry.',
        data: { redirect: target },
      }),

    redirectLost: (status: number) =>
      error('CONNECT_FAILED', `${origin} answers with a redirect that drops the request (HTTP ${status}).`, {
        advice: 'Look at the address in the server entry: it may have moved.',
        data: { status },
      }),

    redirectLoop: (limit: number) =>
      error('CONNECT_FAILED', `${origin} redirects more than ${limit} times.`, {
        advice: 'Look at the address in the server entry: it leads in a circle.',
      }),

    late: (ms: number) =>
      error('REQUEST_TIMEOUT', `The server did not begin to answer within ${ms / 1000} s.`),

    tooLarge: (limit: number) =>
      error('LIMIT_EXCEEDED', `The server’s answer is larger than ${limit} bytes.`, { data: { limit } }),

    frameTooLarge: (limit: number) =>
      error('LIMIT_EXCEEDED', `An event of the server is larger than ${limit} bytes.`, { data: { limit } }),

    /** The answer is lost, and the request may have been processed: it is not sent again. */
    brokenOff: (cause?: unknown) => brokenOff(error, cause),

    /** The same while nothing but the protocol is settled: nothing can have been done. */
    brokenHandshake: (cause?: unknown) =>
      error('CONNECTION_CLOSED', 'The connection broke before the server had answered.', { cause }),

    closed: () => error('CONNECTION_CLOSED', 'The connection was closed before the answer came.'),

    unusable: (handshake: boolean, cause: unknown) =>
      error(
        handshake ? 'CONNECT_FAILED' : 'PROTOCOL',
        'The server answered with something that is not MCP; it is not shown.',
        { cause },
      ),

    /** What `fetch` threw, before there were response headers. */
    network: (thrown: unknown) => {
      if (isBadPort(thrown)) {
        return error(
          'CONNECT_FAILED',
          `${origin} cannot be reached: its port is one that is kept for other protocols.`,
          {
            advice: 'Have the server listen on another port, and write that into the entry.',
            data: { unreachable: true, lasting: true },
            cause: thrown,
          },
        )
      }
      const { code, syscall } = networkCause(thrown)
      if (code === 'UND_ERR_HEADERS_TIMEOUT') {
        return error(
          'REQUEST_TIMEOUT',
          'The server did not begin to answer within the limit of this process for HTTP.',
          { cause: thrown },
        )
      }
      const reason =
        UNREACHABLE[code] ?? (syscall === 'connect' ? 'the connection could not be made' : undefined)
      const sentence = TLS.test(code) ? `its TLS certificate is not accepted (${code})` : reason
      if (sentence === undefined) return brokenOff(error, thrown)
      return error('CONNECT_FAILED', `${origin} cannot be reached: ${sentence}.`, {
        data: { unreachable: true, code },
        cause: thrown,
      })
    },
  }
}

function brokenOff(error: ConnectRequest['error'], cause: unknown): Error {
  const message = 'The connection broke before the answer came; whether the server acted is unknown.'
  return error('CONNECTION_CLOSED', message, {
    advice: 'Find out whether it acted before you ask again.',
    data: { outcome: 'unknown' },
    cause,
  })
}

type Remedies = Readonly<Record<Credential, (server: string) => string>>

const UNAUTHORIZED: Remedies = {
  header: () => 'Fix the Authorization header of its entry, or what that refers to',
  token: (server) => `Store a token that it takes, in a shell with "tapline login ${server} --token"`,
  none: () => 'Give its entry the Authorization header that it wants',
}
const FORBIDDEN: Remedies = {
  header: () => 'Use a credential in the Authorization header of its entry that may do this',
  token: (server) => `Store a token that may do this, in a shell with "tapline login ${server} --token"`,
  none: () => 'Look at what you may do there',
}

/** Failures that happen before a request is sent. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
}
const TLS = /CERT|SIGNATURE|ISSUER|^ERR_(?:TLS|SSL)_/

function networkCause(thrown: unknown): { readonly code: string; readonly syscall: unknown } {
  const { code, syscall, cause } = (thrown ?? {}) as {
    readonly code?: unknown
    readonly syscall?: unknown
    readonly cause?: unknown
  }
  if (typeof code === 'string') return { code, syscall }
  return cause === undefined ? { code: '', syscall } : networkCause(cause)
}

/** Whether `fetch` refused the port before it sent anything (Fetch Standard, "port blocking"). */
function isBadPort(thrown: unknown): boolean {
  const { message, cause } = (thrown ?? {}) as { readonly message?: unknown; readonly cause?: unknown }
  return message === 'bad port' || (cause !== undefined && isBadPort(cause))
}

/** Whether `thrown` is Node's own limit on silence inside a response body. */
export function isBodyTimeout(thrown: unknown): boolean {
  return networkCause(thrown).code === 'UND_ERR_BODY_TIMEOUT'
}

/** Whether `thrown` says that the credentials are not taken: this plugin's own, or one of a plugin that authorizes. */
export function isRefusal(thrown: unknown): thrown is Error {
  return thrown instanceof Error && (thrown as { readonly code?: unknown }).code === 'AUTH_FAILED'
}

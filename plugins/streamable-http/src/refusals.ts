import { boundedText } from './body-cap.ts'
import type { Failures } from './failures.ts'

/** Of the body of an error, no more is read than this. */
const BODY_LIMIT = 65_536

/** The error of a JSON-RPC error response. */
export interface RpcError {
  readonly id: unknown
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** What the judgement of a refusal depends on. */
export interface RefusedRequest {
  /** Undefined for what expects no answer. */
  readonly id: string | number | undefined
  /** Whether the request named a session. */
  readonly inSession: boolean
}

/**
 * Turns a response that is not 2xx into an error or into one that the SDK may see: its body is gone
 * unless it is a JSON-RPC error, and one that answers this very request is handed on as an answer.
 */
export async function refusal(
  response: Response,
  request: RefusedRequest,
  failures: Failures,
): Promise<Response> {
  const { status } = response
  if (status === 401 || status === 403) {
    await response.body?.cancel()
    throw failures.credentials(status)
  }
  const rpc = await rpcErrorOf(response)
  if (request.inSession && isSessionLost(status, rpc)) throw failures.sessionLost(status)
  if (rpc === undefined) return new Response(null, { status })
  const answers = (status === 400 || status === 404) && request.id !== undefined && rpc.id === request.id
  return Response.json({ jsonrpc: '2.0', ...rpc }, { status: answers ? 200 : status })
}

/**
 * Whether a request that named a session was refused because the server does not know it: 404 (specification
 * 2025-11-25, basic/transports), or 400 with words to that effect, as many servers answer after a restart.
 */
export function isSessionLost(status: number, rpc: RpcError | undefined): boolean {
  // A server that answers 404 for an unknown method says so: the session lives.
  if (status === 404) return rpc?.error.code !== -32601
  return status === 400 && rpc !== undefined && SESSION_LOST.some((words) => words.test(rpc.error.message))
}

const SESSION_LOST = [
  /\bsession\b.*\b(?:not found|unknown|invalid|expired|missing|required|terminated|closed|does not exist|no longer)\b/i,
  /\b(?:no|no valid|unknown|invalid|missing|expired|bad)\b.{0,20}\bsession\b/i,
  /\bserver not initialized\b/i,
]

/** The JSON-RPC error in a response's body, if that is what it holds. Consumes the body. */
export async function rpcErrorOf(response: Response): Promise<RpcError | undefined> {
  try {
    const { jsonrpc, id, error } = JSON.parse((await boundedText(response, BODY_LIMIT)) ?? '')
    if (jsonrpc !== '2.0' || typeof error?.code !== 'number' || typeof error.message !== 'string')
      return undefined
    const { code, message, data } = error
    return { id: id ?? null, error: { code, message, ...(data === undefined ? {} : { data }) } }
  } catch {
    return undefined
  }
}

import { isTable } from './document.ts'
import type { Table } from './document.ts'
import { endpointProblem } from './endpoint.ts'
import { shown } from './words.ts'

/** Why a name is none. */
export function nameProblem(name: unknown, number: number, scope: string): string {
  const sentence = `server #${number} in the ${scope} config needs a name`
  if (typeof name !== 'string' || name.trim() === '') return sentence
  return `${sentence} of 1 to 32 letters, digits, "_" and "-" (it has "${shown(name)}")`
}

/** Why a kind is none. */
export function kindProblem(kind: unknown): string {
  return typeof kind === 'string'
    ? `unknown kind "${shown(kind)}" (stdio | streamable_http)`
    : 'kind must be stdio or streamable_http'
}

/** What cannot stand together, or is missing, in an entry of kind stdio. */
export function stdioProblems({ command, endpoint, auth }: Table): string[] {
  return [
    ...(command === undefined || (typeof command === 'string' && command.trim() === '')
      ? ['missing command']
      : []),
    ...(endpoint !== undefined || auth !== undefined
      ? [
          'a stdio server must not set endpoint or auth; remove streamable_http fields, or set kind = "streamable_http"',
        ]
      : []),
  ]
}

/** The same for kind streamable_http, with what an address and a credential must be. */
export function httpProblems(raw: Table, scope: 'user' | 'project'): string[] {
  const { command, args, endpoint, auth } = raw
  const address =
    endpoint === undefined || endpoint === ''
      ? 'missing endpoint'
      : typeof endpoint === 'string'
        ? endpointProblem(endpoint)
        : undefined
  return [
    ...(command !== undefined || (args !== undefined && !(Array.isArray(args) && args.length === 0))
      ? ['a streamable_http server must set endpoint, not command/args']
      : []),
    ...(address === undefined ? [] : [address]),
    ...(isTable(auth) ? authProblems(auth, scope) : []),
  ]
}

function authProblems({ kind, token, token_keychain_ref: ref }: Table, scope: 'user' | 'project'): string[] {
  if (kind !== 'bearer') return ['unsupported streamable_http auth kind; expected bearer']
  if (token !== undefined) {
    return [
      'auth.token is not accepted: give the entry token_keychain_ref = "PI_MCP_TOKEN_…" in its place, then store the token in a shell with "tapline login <server> --token"',
    ]
  }
  if (ref === undefined) return ['bearer auth requires token_keychain_ref']
  // The reference is not quoted: it may be a token in the wrong field.
  if (
    scope === 'project' &&
    typeof ref === 'string' &&
    ref.trim() !== '' &&
    !ref.startsWith('PI_MCP_TOKEN_')
  ) {
    return ['token_keychain_ref in a project’s file must begin with PI_MCP_TOKEN_']
  }
  return []
}

/** Delays that contradict each other. */
export function delayProblems({ reconnect }: Table): string[] {
  if (!isTable(reconnect)) return []
  const { initial_ms: initial, max_ms: max } = reconnect
  const inverted = typeof initial === 'number' && typeof max === 'number' && max < initial && max > 0
  return inverted ? ['reconnect.max_ms must not be below reconnect.initial_ms'] : []
}

/** Short forms of `push` that something else overrules. */
export function injectionWarnings({ inject_summary: summary, inject_and_run: run, push }: Table): string[] {
  const both =
    summary === true && run === true
      ? ['inject_summary and inject_and_run are both set; inject_and_run wins']
      : []
  const explicit = isTable(push) ? push.default : undefined
  const short = run === true ? 'run' : 'summary'
  const differs = explicit !== undefined && (summary === true || run === true) && explicit !== short
  return differs ? [...both, 'push.default and the short form differ; push.default wins'] : both
}

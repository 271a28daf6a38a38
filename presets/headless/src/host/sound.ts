import type { ConfigState, Diagnostic, ServerSpec, TrustQuestion } from '@tapline/core'

/** What the `config` hook answered, without what is not what it should be; a diagnostic says so. */
export function soundState(answer: unknown): ConfigState {
  const state = isObject(answer) ? answer : {}
  const [servers, strayServers] = soundOf(state, 'servers', isServer)
  const [diagnostics, strayDiagnostics] = soundOf(state, 'diagnostics', isDiagnostic)
  const [questions, strayQuestions] = soundOf(state, 'questions', isQuestion)
  const stray = strayServers + strayDiagnostics + strayQuestions
  const codemode = read(state, 'autoEnableCodemode')
  return {
    servers,
    diagnostics: stray === 0 ? diagnostics : [...diagnostics, brokenBy(stray)],
    questions,
    ...(typeof codemode === 'boolean' ? { autoEnableCodemode: codemode } : {}),
  }
}

function brokenBy(stray: number): Diagnostic {
  return {
    severity: 'error',
    message: `a plugin answered the configuration with ${stray} ${stray === 1 ? 'thing that is' : 'things that are'} no server, diagnostic or question; they are left out. Take the plugin out, or have it put right.`,
  }
}

/** The entries of a list that are what they should be, and how many are not. */
function soundOf<T>(
  state: Record<string, unknown>,
  key: string,
  is: (entry: unknown) => entry is T,
): readonly [readonly T[], number] {
  const list = read(state, key)
  if (!Array.isArray(list)) return [[], 1]
  const sound = list.filter((entry): entry is T => safely(() => is(entry)) === true)
  return [sound, list.length - sound.length]
}

function isServer(entry: unknown): entry is ServerSpec {
  // Also compared by its JSON, which must exist.
  if (!isObject(entry) || JSON.stringify(entry) === undefined) return false
  const { name, source, transport, reconnect, results, push, toolExposure, enabled, requestTimeoutMs } = entry
  return (
    typeof name === 'string' &&
    name !== '' &&
    typeof enabled === 'boolean' &&
    typeof requestTimeoutMs === 'number' &&
    isObject(source) &&
    typeof source.label === 'string' &&
    isObject(transport) &&
    typeof transport.type === 'string' &&
    isObject(reconnect) &&
    isObject(results) &&
    isObject(toolExposure) &&
    isObject(push) &&
    Object.values(push).every(
      (policy) => typeof policy === 'string' || (isObject(policy) && typeof policy.policy === 'string'),
    )
  )
}

function isDiagnostic(entry: unknown): entry is Diagnostic {
  return (
    isObject(entry) &&
    typeof entry.message === 'string' &&
    ['error', 'warning', 'info'].includes(entry.severity as string) &&
    ['string', 'undefined'].includes(typeof entry.server) &&
    ['string', 'undefined'].includes(typeof entry.path)
  )
}

function isQuestion(entry: unknown): entry is TrustQuestion {
  return (
    isObject(entry) &&
    [entry.path, entry.directory, entry.content].every((text) => typeof text === 'string') &&
    Array.isArray(entry.facts) &&
    entry.facts.every((fact) => typeof fact === 'string')
  )
}

function read(state: Record<string, unknown>, key: string): unknown {
  return safely(() => state[key])
}

function safely<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

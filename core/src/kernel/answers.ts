/** Whether a plugin's answer is whole: `true`, or what is wrong with it. `asked` is what the tap was given. */
export type Accepts = (answer: object, asked: unknown) => true | string

type Fields = Readonly<Record<string, unknown>>

const EXPOSURES: readonly unknown[] = ['direct', 'deferred', 'codemode', 'hidden']

/** Servers, diagnostics and questions, every one of them whole. */
export function acceptsConfig(answer: object): true | string {
  const { servers, diagnostics, questions } = answer as Fields
  if (!Array.isArray(servers)) return 'its "servers" is no list'
  if (!Array.isArray(diagnostics)) return 'its "diagnostics" is no list'
  if (!Array.isArray(questions)) return 'its "questions" is no list'
  for (const [index, server] of servers.entries()) {
    const flaw = flawOfServer(server)
    if (flaw !== undefined) return `its server number ${index + 1} has no valid "${flaw}"`
  }
  if (!diagnostics.every((one) => isObject(one) && typeof one.message === 'string'))
    return 'one of its diagnostics has no message'
  if (!questions.every((one) => isObject(one) && typeof one.path === 'string' && Array.isArray(one.facts)))
    return 'one of its questions is not whole'
  return true
}

/** Something that can start, send and close. */
export function acceptsConnect(answer: object): true | string {
  const { start, send, close } = answer as Fields
  if (typeof start === 'function' && typeof send === 'function' && typeof close === 'function') return true
  return 'it is no transport: it needs the functions start, send and close'
}

/** Runs for every push: no more than a few comparisons. */
export function acceptsNotify(answer: object, asked: unknown): true | string {
  if (answer === asked) return true
  const notice = answer as Fields
  switch (notice.kind) {
    case 'trigger':
      return isTrigger(notice) || 'a text, the "replacement" or the "receivedAt" of its trigger is missing'
    case 'drop':
      return typeof notice.reason === 'string' || 'its "reason" is no text'
    case 'raw':
      return (
        (typeof notice.server === 'string' && typeof notice.method === 'string') ||
        'its "server" or "method" is no text'
      )
    case 'handled':
      return true
    default:
      return 'its "kind" is not raw, trigger, drop or handled'
  }
}

/** Runs for every trigger. */
export function acceptsDedup(answer: object): true | string {
  const verdict = answer as Fields
  switch (verdict.verdict) {
    case 'first':
      return (isOptional(verdict.done) && isOptional(verdict.failed)) || '"done" or "failed" is no function'
    case 'duplicate':
      return typeof verdict.of === 'string' || 'its "of" is no text'
    case 'drop':
      return typeof verdict.reason === 'string' || 'its "reason" is no text'
    case 'later':
      return Number.isFinite(verdict.until) || 'its "until" is no point in time'
    default:
      return 'its "verdict" is not first, duplicate, drop or later'
  }
}

/** Runs for every trigger. */
export function acceptsDeliver(answer: object): true | string {
  const { sink, dropped, refused } = answer as Fields
  if (typeof sink !== 'string') return 'its "sink" is no text'
  if (refused !== undefined && typeof refused !== 'string') return 'its "refused" is no text'
  return dropped === undefined || typeof dropped === 'string' || 'its "dropped" is no text'
}

/** A whole tool; what the tap left as it was is not held against it: that came from a server. */
export function acceptsTool(answer: object, asked: unknown): true | string {
  const tool = answer as Fields
  const before: Fields = isObject(asked) ? asked : {}
  for (const field of ['name', 'label', 'description'])
    if (tool[field] !== before[field] && typeof tool[field] !== 'string') return `its "${field}" is no text`
  if (!isObject(tool.server) || !isObject(tool.serverTool)) return 'its "server" or "serverTool" is no object'
  if (!EXPOSURES.includes(tool.exposure)) return 'its "exposure" is none of the four'
  if (tool.hidden !== undefined && typeof tool.hidden !== 'string') return 'its "hidden" is no text'
  if (tool.parameters !== before.parameters && !isObject(tool.parameters))
    return 'its "parameters" is no object'
  for (const field of ['parameters', 'outputSchema', 'annotations'])
    if (tool[field] !== before[field] && !isJson(tool[field]))
      return `its "${field}" cannot be written as JSON`
  return true
}

function flawOfServer(server: unknown): string | undefined {
  if (!isObject(server)) return 'entry'
  const { name, enabled, requestTimeoutMs, transport, reconnect, results, source } = server
  if (typeof name !== 'string' || name === '') return 'name'
  if (typeof enabled !== 'boolean') return 'enabled'
  if (!Number.isFinite(requestTimeoutMs)) return 'requestTimeoutMs'
  if (!isObject(transport) || typeof transport.type !== 'string') return 'transport'
  if (!isObject(reconnect) || !['initialMs', 'maxMs', 'maxAttempts'].every((n) => isCount(reconnect[n])))
    return 'reconnect'
  if (!isObject(results) || !isCount(results.maxBytes)) return 'results'
  if (!isObject(source) || typeof source.label !== 'string') return 'source'
  if (!EXPOSURES.includes(server.exposure)) return 'exposure'
  if (typeof server.naming !== 'string') return 'naming'
  return ['push', 'toolExposure'].find((field) => !isObject(server[field]))
}

function isTrigger(notice: Fields): boolean {
  return (
    typeof notice.traceId === 'string' &&
    typeof notice.server === 'string' &&
    typeof notice.method === 'string' &&
    typeof notice.key === 'string' &&
    typeof notice.summary === 'string' &&
    (notice.replacement === 'drop' || notice.replacement === 'latest_replaces') &&
    Number.isFinite(notice.receivedAt)
  )
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function isOptional(value: unknown): boolean {
  return value === undefined || typeof value === 'function'
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

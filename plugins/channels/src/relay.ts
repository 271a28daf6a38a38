import { randomInt, randomUUID } from 'node:crypto'
import type { Drop, Handled, Host, Log, RawNotification } from '@tapline/core'
import { REQUEST_METHOD, VERDICT_METHOD } from './contract.ts'
import { cleanLine, cleanLines, cut, wholeWords } from './text.ts'

/** Without `l`, which reads as other letters on a small screen. */
const LETTERS = 'abcdefghijkmnopqrstuvwxyz'
const ID_LENGTH = 5
const LONGEST_NAME = 200
const LONGEST_DESCRIPTION = 1_000
const LONGEST_PREVIEW = 200
/** Nothing beyond this can end up in what is shown. */
const LONGEST_LOOKED_AT = 8_192

/** A tool call that waits for somebody's approval. */
export interface PermissionRequest {
  readonly toolName: string
  /** What the person is asked. */
  readonly description: string
  /** The call's arguments. */
  readonly input: unknown
}

/** The first answer of a channel. */
export interface Verdict {
  readonly behavior: 'allow' | 'deny'
  /** The server that it came from. */
  readonly server: string
}

/** A request that channels were asked about. */
export interface PendingPermission {
  /** Five letters. */
  readonly id: string
  /** The first verdict; undefined when it was withdrawn, or nobody answered in time. Never rejects. */
  readonly verdict: Promise<Verdict | undefined>
  /** Somebody else has answered, as `how` says in the audit trail: a later verdict counts for nothing. */
  withdraw(how: string): void
}

/** What the relay stands on. */
export interface RelayParts {
  readonly host: Host
  readonly log: Log
  /** How long a verdict is waited for, in milliseconds. */
  readonly limitMs: number
  redact(text: string): string
  /** The names of the servers that may be asked now. */
  servers(): readonly string[]
}

/** Asks channels about tool calls and takes their answers. */
export interface Relay {
  /** Undefined when there is nobody to ask. */
  ask(request: PermissionRequest): PendingPermission | undefined
  /** An answer as it came: one to an unknown request, or of a server that was not asked, counts for nothing. */
  answer(raw: RawNotification): Handled | Drop
  /** Withdraws everything. */
  close(): void
}

interface Open {
  readonly asked: ReadonlySet<string>
  settle(how: string, verdict?: Verdict): void
}

/** The relay of one session. */
export function createRelay({ host, log, limitMs, redact, servers }: RelayParts): Relay {
  const open = new Map<string, Open>()

  const ask = (request: PermissionRequest): PendingPermission | undefined => {
    const asked = servers()
    if (asked.length === 0) return undefined
    const id = freshId(open)
    const traceId = randomUUID()
    const toolName = cleanLine(request.toolName, LONGEST_NAME)
    const audit = (state: string, details: Readonly<Record<string, unknown>>): void =>
      host.audit?.({
        type: 'channel_permission',
        traceId,
        cwd: host.paths.cwd,
        state,
        eventLabel: REQUEST_METHOD,
        summary: `approval of ${toolName}`,
        details: { request_id: id, tool_name: toolName, ...details },
      })
    const answered = Promise.withResolvers<Verdict | undefined>()
    const settle = (how: string, verdict?: Verdict): void => {
      if (!open.delete(id)) return
      clearTimeout(timer)
      audit(how, verdict ? { server: verdict.server } : {})
      answered.resolve(verdict)
    }
    const timer = setTimeout(() => settle('expired'), limitMs)
    timer.unref()
    open.set(id, { asked: new Set(asked), settle })
    audit('asked', { servers: asked })
    const params = {
      request_id: id,
      tool_name: toolName,
      description: cut(shown(request.description, redact).trim(), LONGEST_DESCRIPTION),
      input_preview: previewOf(request.input, redact),
    }
    for (const server of asked) {
      host
        .server?.(server)
        ?.notify(REQUEST_METHOD, params)
        .catch((thrown: unknown) =>
          log.warn(`server "${server}" could not be asked about a tool call: ${String(thrown)}`),
        )
    }
    return { id, verdict: answered.promise, withdraw: (how) => settle(how) }
  }

  const answer = ({ server, params }: RawNotification): Handled | Drop => {
    const { request_id: id, behavior } = params ?? {}
    if (typeof id !== 'string') return malformed('"request_id" must be the text that was asked with')
    if (behavior !== 'allow' && behavior !== 'deny') return malformed('"behavior" must be "allow" or "deny"')
    const request = open.get(id)
    if (request?.asked.has(server)) request.settle(behavior, { behavior, server })
    return { kind: 'handled' }
  }

  return {
    ask,
    answer,
    close: () => {
      for (const { settle } of open.values()) settle('session_ended')
    },
  }
}

function freshId(taken: ReadonlyMap<string, unknown>): string {
  const letter = (): string => LETTERS[randomInt(LETTERS.length)] as string
  let id: string
  do id = Array.from({ length: ID_LENGTH }, letter).join('')
  while (taken.has(id))
  return id
}

/** The arguments as JSON, as far as a small screen shows them. */
function previewOf(input: unknown, redact: (text: string) => string): string {
  let json: string
  try {
    json = JSON.stringify(input) ?? ''
  } catch {
    json = ''
  }
  return cut(shown(json, redact), LONGEST_PREVIEW)
}

function shown(text: string, redact: (text: string) => string): string {
  return redact(cleanLines(wholeWords(text, LONGEST_LOOKED_AT)))
}

function malformed(what: string): Drop {
  return {
    kind: 'drop',
    reason: 'malformed channel verdict',
    error: `dropped ${VERDICT_METHOD}: ${what}`,
  }
}

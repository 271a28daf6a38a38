/**
 * Every error that Tapline raises is one class with a code from this table. `message` says what
 * happened and where; `advice` says what to do about it.
 */
export const ERROR_CODES = {
  CODEGEN_BLOCKED: 'Run this process without --disallow-code-generation-from-strings: hooks are compiled.',
  PLUGIN_INVALID: 'Fix the plugin: it must be { name, api: 1, setup }.',
  PLUGIN_API: 'Install a version of the plugin that is made for this version of Tapline.',
  PLUGIN_DUPLICATE: 'Remove one of the two plugins of that name.',
  PLUGIN_SETUP: 'Look at the plugin’s own message, or remove the plugin.',
  PLUGIN_DISPOSE: 'Look at the plugin’s own message; what it held may still be open.',
  TAP_FAILED: 'Look at the plugin’s own message, or remove the plugin.',
  TAP_TIMEOUT: 'The plugin did not answer in time: look at its own log, or remove it.',
  TAP_PROMISE: 'Use tapPromise for a tap that is asynchronous.',
  NO_TRANSPORT: 'Install a plugin for this transport, or fix the "type" of the server entry.',
  CONNECT_FAILED: 'Fix the server entry or start the server, then reconnect.',
  AUTH_FAILED: 'Sign in or store the credential, then reconnect.',
  CREDENTIAL_MISSING: 'Store the credential that the entry names, then reconnect.',
  CONNECTION_CLOSED: 'The server went away; the next attempt is already scheduled.',
  SESSION_LOST: 'The server forgot the session; it is opened again by itself.',
  NOT_CONNECTED: 'Reconnect the server, or look at why it is not connected.',
  REQUEST_TIMEOUT: 'Raise the timeout of the server entry, or look at the server’s own log.',
  CANCELLED: 'The call was cancelled.',
  PROTOCOL: 'The server refused the request: look at its message.',
  SUBSCRIPTION_REFUSED:
    'Look at the "subscribe" of the server entry; it is asked for again on the next connection.',
  PUSHES_REFUSED: 'Sign in or store the credential, then reconnect.',
  LIMIT_EXCEEDED: 'Raise the limit in the server entry if the size is expected.',
  CONFIG_INVALID: 'Fix the file and reload.',
  STATE_UNREADABLE: 'The file was set aside; look at it and restore what you need.',
  RECONNECT_EXHAUSTED: 'Fix the server entry, then /mcp reconnect it, or /reload.',
} as const

/** A code of the table above. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Where an error happened: any part that is known. */
export interface ErrorPlace {
  readonly plugin?: string
  readonly hook?: string
  readonly server?: string
  readonly file?: string
  readonly line?: number
}

/** What {@link TaplineError} takes besides its code and message. */
export interface ErrorDetails extends ErrorPlace {
  /** What to do; the code's own sentence when absent. */
  readonly advice?: string
  /** The error underneath. Never shown: it may quote what a server sent. */
  readonly cause?: unknown
  /** Further facts for programs, for example an HTTP status. Never secrets. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Codes of what stays as it is until a person has done something. */
const LASTING: ReadonlySet<ErrorCode> = new Set(['AUTH_FAILED', 'CONFIG_INVALID', 'NO_TRANSPORT'])

const BRAND = Symbol.for('tapline.error')

/** The one error class. Recognise it with {@link isTaplineError}: packages do not share modules. */
export class TaplineError extends Error {
  readonly code: ErrorCode
  readonly advice: string
  readonly place: ErrorPlace
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { advice, cause, data, ...place } = details
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.advice = advice ?? ERROR_CODES[code]
    this.place = place
    this.data = data ?? {}
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** What happened and what to do, in one line. */
  override toString(): string {
    return `${sentence(this.message)} ${this.advice}`
  }
}
Object.defineProperty(TaplineError.prototype, 'name', { value: 'TaplineError' })

/** Whether `value` is a {@link TaplineError}, also one from another copy of this module. */
export function isTaplineError(value: unknown): value is TaplineError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
}

/**
 * Whether trying again by itself cannot help: refused credentials, a wrong entry, and whatever was raised with
 * `data.lasting`, such as a program that is not installed. `worked`: it has worked before in this process, so what
 * `data.lasting` speaks of may only be away for a moment.
 */
export function isLasting({ code, data }: TaplineError, worked = false): boolean {
  return LASTING.has(code) || (data['lasting'] === true && !worked)
}

/** What to do about exactly this error, where that is more than its code says. */
export function ownAdvice({ code, advice }: TaplineError): string | undefined {
  return advice === ERROR_CODES[code] ? undefined : advice
}

/** `text` with a full stop, unless it ends as a sentence does. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** The message of anything thrown, in one line. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name
  try {
    return String(thrown)
  } catch {
    // Not every object can be made a text.
    return 'what was thrown says nothing of itself'
  }
}

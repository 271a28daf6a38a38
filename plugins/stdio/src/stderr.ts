import { StringDecoder } from 'node:string_decoder'
import { maskSecrets } from './masking.ts'

const TAIL_BYTES = 8 * 1024
const LINE_POINTS = 200
/** Raw text kept; more than the tail, since what is stripped counts here too. */
const RAW_CHARS = 2 * TAIL_BYTES

const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B(?:\][^\u0007\u001B\n]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B\n]*(?:\u001B\\)?|[ -/]*[0-~])/g
const UNSEEN =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** What a report shows of stderr. */
export interface StderrReport {
  /** The last line with anything on it, at most 200 characters. */
  readonly lastStderr?: string
  /** The last lines, at most 8 KiB. */
  readonly stderrTail?: string
}

/** Keeps the end of what a server writes on stderr. Taking bytes is cheap; cleaning waits until somebody looks. */
export class StderrTail {
  readonly #decoder = new StringDecoder('utf8')
  #raw = ''
  #cut = false
  #report: StderrReport | undefined
  readonly #secrets: readonly string[]

  /** Values that the server was given and that no report may show. */
  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets
  }

  push(chunk: Buffer): void {
    this.#report = undefined
    const text = this.#raw + this.#decoder.write(chunk)
    if (text.length > RAW_CHARS) this.#cut = true
    this.#raw = text.slice(-RAW_CHARS)
  }

  /** Free of escape sequences, control and bidi characters, and of what is or looks secret. */
  report(): StderrReport {
    return (this.#report ??= describe(this.#cut ? afterFirstBreak(this.#raw) : this.#raw, this.#secrets))
  }
}

function describe(raw: string, secrets: readonly string[]): StderrReport {
  // A bare CR starts a progress bar's next picture: for us the next line.
  const seen = raw.toWellFormed().replace(/\r\n?/g, '\n').replace(ESCAPES, '').replace(UNSEEN, '')
  const clean = maskSecrets(seen, secrets)
  const tail = lastBytes(clean.replace(/\n{3,}/g, '\n\n').trim())
  if (tail === '') return {}
  const line = Array.from(tail.slice(tail.lastIndexOf('\n') + 1).trim())
  const last = line.length > LINE_POINTS ? `${line.slice(0, LINE_POINTS - 1).join('')}…` : line.join('')
  return { lastStderr: last, stderrTail: tail }
}

function lastBytes(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= TAIL_BYTES) return text
  let start = bytes.length - TAIL_BYTES
  while ((bytes[start]! & 0xc0) === 0x80) start++
  return afterFirstBreak(bytes.toString('utf8', start)).trim()
}

/** A line whose start is gone may begin inside an escape sequence; it is left out, unless it is the only one. */
function afterFirstBreak(text: string): string {
  const end = text.search(/[\r\n]+[^\r\n]/)
  return end === -1 ? text : text.slice(end + 1)
}

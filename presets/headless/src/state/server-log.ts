import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cleanLines, cleanText } from '@tapline/core'

/** Beyond this many bytes the file becomes `mcp.log.1`, as with pi. */
const LARGEST = 5 * 1024 * 1024
/** Characters of one message; a server that logs a whole file shall not push the others' words out. */
const LONGEST = 64 * 1024

/** What servers say with `notifications/message`. */
export interface ServerLog {
  readonly path: string
  /** Keeps a message; what comes within one turn of the event loop is written together. */
  write(server: string, params: unknown, redact: (text: string) => string): void
  /** Writes what is waiting. */
  flush(): void
}

/** Where {@link serverLog} writes. */
export function serverLogPath(agentDir: string): string {
  return join(agentDir, 'mcp.log')
}

/**
 * `<agent dir>/mcp.log`, which pi and any number of processes append to as well: `<ISO time> [<server>] <level>
 * <logger>: <text>`, further lines of a message indented. Best effort: a file that cannot be written is no reason to
 * disturb anyone.
 */
export function serverLog(agentDir: string): ServerLog {
  const path = serverLogPath(agentDir)
  let waiting: string[] = []
  let timer: NodeJS.Immediate | undefined
  const flush = (): void => {
    clearImmediate(timer)
    timer = undefined
    const lines = waiting.join('')
    waiting = []
    if (lines === '') return
    try {
      mkdirSync(agentDir, { recursive: true, mode: 0o700 })
      // Looked at anew each time: another process may have rotated it.
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGEST) renameSync(path, `${path}.1`)
      appendFileSync(path, lines, { mode: 0o600 })
    } catch {
      // See above.
    }
  }
  return {
    path,
    write: (server, params, redact) => {
      waiting.push(lineOf(server, params, redact))
      timer ??= setImmediate(flush)
    },
    flush,
  }
}

function lineOf(server: string, params: unknown, redact: (text: string) => string): string {
  const message = isObject(params) ? params : { data: params }
  const { level, logger, data } = message
  const words = (text: string): string => cleanText(redact(cleanText(text, 400)), 100)
  const shownLevel = typeof level === 'string' && level !== '' ? words(level) : 'info'
  const shownLogger = typeof logger === 'string' && logger !== '' ? ` ${words(logger)}:` : ''
  const text = bounded(redact(cleanLines(textOf(data).slice(0, 2 * LONGEST)))).replaceAll('\n', '\n    ')
  return `${new Date().toISOString()} [${server}] ${shownLevel}${shownLogger} ${text}\n`
}

function bounded(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}… (cut)`
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data
  try {
    return JSON.stringify(data) ?? String(data)
  } catch {
    return String(data)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

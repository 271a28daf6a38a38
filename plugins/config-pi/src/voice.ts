import type { Diagnostic } from '@tapline/core'
import type { Document } from './document.ts'
import type { Finding } from './schema.ts'
import { shown } from './words.ts'

/** Speaks of one file, or of what an extension registered, and of the entries in it. */
export interface Voice {
  /** Of the file as a whole. */
  file(severity: Diagnostic['severity'], message: string, line?: number): void
  /** An entry that is not used. `consequence` says what holds in its place. */
  fail(server: string, errors: readonly Finding[], consequence?: string): void
  warn(server: string, finding: Finding): void
}

/** A voice that adds to `diagnostics`. Lines are known once `document` is. */
export function createVoice(diagnostics: Diagnostic[], path?: string, document?: Document): Voice {
  const add = (
    severity: Diagnostic['severity'],
    name: string,
    message: string,
    field?: readonly string[],
  ): void => {
    const line = document?.lineOf(name, field)
    diagnostics.push({ severity, message, ...placeOf(path, line), server: shown(name) })
  }
  return {
    file: (severity, message, line) => {
      const place = [path, line].filter((part) => part !== undefined).join(':')
      diagnostics.push({ severity, message: `${place}: ${message}`, ...placeOf(path, line) })
    },
    fail: (server, errors, consequence = '') => {
      const reason = errors.map(({ message }) => message).join('; ')
      add('error', server, `mcp server '${shown(server)}' failed: ${reason}${consequence}`, errors[0]?.field)
    },
    warn: (server, { message, field }) =>
      add('warning', server, `mcp server '${shown(server)}': ${message}`, field),
  }
}

function placeOf(path: string | undefined, line: number | undefined): Pick<Diagnostic, 'path' | 'line'> {
  return { ...(path === undefined ? {} : { path }), ...(line === undefined ? {} : { line }) }
}

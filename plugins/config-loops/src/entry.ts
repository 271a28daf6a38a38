import type { ServerSpec } from '@tapline/core'
import { isTable } from './document.ts'
import {
  delayProblems,
  httpProblems,
  injectionWarnings,
  kindProblem,
  nameProblem,
  stdioProblems,
} from './problems.ts'
import type { UnknownField } from './schema.ts'
import { specOf } from './spec.ts'
import type { EntryOrigin } from './spec.ts'
import { nearest, shown } from './words.ts'

/** A server, or why the entry gives none; either way with what a person should know. */
export interface EntryResult {
  /** What the entry is called: its name, or `#2`. */
  readonly name: string
  readonly spec?: ServerSpec
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

const ONLY_STDIO = ['env', 'cwd', 'inherit_env']

/** Reads one `[[server]]`, the nth of its file. */
export function readEntry(number: number, raw: unknown, origin: EntryOrigin): EntryResult {
  if (!isTable(raw)) return { name: `#${number}`, errors: ['the entry must be a table'], warnings: [] }
  const { name, kind = 'stdio' } = raw
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,32}$/.test(name) || name === '__proto__') {
    return { name: `#${number}`, errors: [nameProblem(name, number, origin.source.scope)], warnings: [] }
  }
  if (kind !== 'stdio' && kind !== 'streamable_http')
    return { name, errors: [kindProblem(kind)], warnings: [] }

  const { errors, unknown } = origin.schema.check(raw)
  const foreign = kind === 'stdio' ? ['endpoint', 'auth'] : ['command', 'args', ...ONLY_STDIO]
  const broken = [
    ...(kind === 'stdio' ? stdioProblems(raw) : httpProblems(raw, origin.source.scope)),
    ...errors.filter(({ field }) => !foreign.includes(field)).map(({ message }) => message),
    ...delayProblems(raw),
  ]
  const idle = kind === 'stdio' ? [] : ONLY_STDIO.filter((key) => raw[key] !== undefined)
  const warnings = [
    ...unknown.filter((field) => !isInlineToken(field)).map(unknownWarning),
    ...idle.map((key) => `${key} is ignored: it belongs to stdio servers`),
    ...injectionWarnings(raw),
  ]
  if (broken.length > 0) return { name, errors: [...new Set(broken)], warnings }
  return { name, spec: specOf(name, kind, raw, origin), errors: [], warnings }
}

function isInlineToken({ path, key }: UnknownField): boolean {
  return path[0] === 'auth' && key === 'token'
}

function unknownWarning({ key, path, known }: UnknownField): string {
  const meant = nearest(key, known)
  const hint = meant === undefined ? '' : `; did you mean "${[...path, meant].join('.')}"?`
  return `unknown key "${shown([...path, key].join('.'))}" is ignored${hint}`
}

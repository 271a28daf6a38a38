import { readFileSync } from 'node:fs'
import type { Diagnostic } from '@tapline/core'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { SettingsFile } from './settings.ts'

const SCHEMA = new URL('../../schema/tapline.schema.json', import.meta.url)

let compiled: ValidateFunction<SettingsFile> | undefined

/** Checks a settings file. Unknown keys are left out with a diagnostic, wrong values refuse the file. */
export function checkSettings(path: string, content: unknown): { readonly file?: SettingsFile; readonly problems: readonly Diagnostic[] } {
  compiled ??= new Ajv({ allErrors: true, strict: false }).compile<SettingsFile>(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object)
  if (compiled(content)) return { file: content, problems: [] }
  const errors = compiled.errors ?? []
  const unknown = errors.filter((error) => error.keyword === 'additionalProperties' && error.instancePath === '')
  const wrong = errors.filter((error) => !unknown.includes(error))
  const problems: Diagnostic[] = unknown.map((error) => {
    const key = String((error.params as { additionalProperty?: unknown }).additionalProperty)
    return { severity: 'warning', message: `${path}: unknown key "${key}" is ignored.${suggestion(key)}`, path }
  })
  if (wrong.length > 0) {
    problems.push({ severity: 'error', message: `settings file ${path} is ignored: ${wrong.map(describe).join('; ')}.`, path })
    return { problems }
  }
  const known = Object.fromEntries(Object.entries(content as object).filter(([key]) => KNOWN.includes(key)))
  return { file: known as SettingsFile, problems }
}

const KNOWN = ['$schema', 'plugins', 'disable', 'options', 'naming', 'apply', 'results', 'push']

function describe(error: ErrorObject): string {
  const where = error.instancePath === '' ? 'the file' : error.instancePath.slice(1).replaceAll('/', '.')
  const allowed = (error.params as { allowedValues?: unknown[] }).allowedValues
  const extra = (error.params as { additionalProperty?: unknown }).additionalProperty
  return `${where} ${error.message ?? 'is wrong'}${allowed ? ` (${allowed.join(', ')})` : ''}${extra === undefined ? '' : ` ("${String(extra)}")`}`
}

function suggestion(key: string): string {
  const near = KNOWN.filter((known) => distance(known, key) <= 2)
  return near.length > 0 ? ` Did you mean "${near[0]}"?` : ''
}

/** Edits between two short words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_unused, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length] ?? 0
}

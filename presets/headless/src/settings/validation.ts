import { readFileSync } from 'node:fs'
import { cleanText } from '@tapline/core'
import type { Diagnostic } from '@tapline/core'
import { Ajv } from 'ajv'
import leven from 'leven'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { SettingsFile } from './settings.ts'

const SCHEMA = new URL('../../schema/tapline.schema.json', import.meta.url)

let compiled: ValidateFunction<SettingsFile> | undefined

/** Checks a settings file. Unknown keys are left out with a diagnostic, wrong values refuse the file. */
export function checkSettings(
  path: string,
  content: unknown,
): { readonly file?: SettingsFile; readonly problems: readonly Diagnostic[] } {
  compiled ??= new Ajv({ allErrors: true, strict: false, verbose: true }).compile<SettingsFile>(
    JSON.parse(readFileSync(SCHEMA, 'utf8')) as object,
  )
  const file = copied(content)
  if (compiled(file)) return { file, problems: [] }
  const errors = compiled.errors ?? []
  const unknown = errors.filter((error) => error.keyword === 'additionalProperties')
  const wrong = errors.filter((error) => !unknown.includes(error))
  const problems = unknown.map((error): Diagnostic => {
    const { key, suggestion } = strayKey(error)
    removeKey(file, error)
    return {
      severity: 'warning',
      message: `${path}: unknown key "${cleanText(key, 200)}" is ignored.${suggestion}`,
      path,
    }
  })
  if (wrong.length === 0) return { file: file as SettingsFile, problems }
  const reasons = [...new Set(wrong.map(describe))].join('; ')
  return {
    problems: [
      ...problems,
      { severity: 'error', message: `settings file ${path} is ignored: ${reasons}.`, path },
    ],
  }
}

/** A copy as deep as the places where the schema knows every key: the object of a TypeScript file stays as it is. */
function copied(content: unknown): unknown {
  if (!isObject(content)) return content
  const { results, push } = content
  return {
    ...content,
    ...(isObject(results) ? { results: { ...results } } : {}),
    ...(isObject(push) ? { push: mapped(push, (table) => mapped(table, (entry) => mapped(entry))) } : {}),
  }
}

/** A copy of an object with other values; anything else as it is. */
function mapped(value: unknown, change: (inner: unknown) => unknown = (inner) => inner): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(error: ErrorObject): string {
  const { allowedValues } = error.params as { allowedValues?: unknown[] }
  const { description } = (error.parentSchema ?? {}) as { description?: string }
  if (error.keyword === 'type' && Array.isArray(error.schema))
    return `${cleanText(dotted(error), 200)} must be ${error.schema.join(' or ')}`
  if (error.keyword === 'pattern' && description !== undefined)
    return `${cleanText(dotted(error), 200)} must be ${description}`
  return `${cleanText(dotted(error), 200) || 'the file'} ${error.message ?? 'is wrong'}${allowedValues ? ` (${allowedValues.join(', ')})` : ''}`
}

function strayKey(error: ErrorObject): { readonly key: string; readonly suggestion: string } {
  const name = keyOf(error)
  const parent = dotted(error)
  const inFront = parent === '' ? '' : `${parent}.`
  const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
  const near = known.find((candidate) => leven(candidate, name) <= 2)
  return {
    key: inFront + name,
    suggestion: near === undefined ? '' : ` Did you mean "${inFront}${near}"?`,
  }
}

function removeKey(file: unknown, error: ErrorObject): void {
  const parent = steps(error).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], file)
  delete (parent as Record<string, unknown>)[keyOf(error)]
}

function keyOf(error: ErrorObject): string {
  return String((error.params as { additionalProperty?: unknown }).additionalProperty)
}

function dotted(error: ErrorObject): string {
  return steps(error).join('.')
}

/** The keys that lead to the place, out of its JSON pointer. */
function steps({ instancePath }: ErrorObject): readonly string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

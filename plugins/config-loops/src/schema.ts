import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { FORMATS } from './endpoint.ts'
import { isPlain } from './plain.ts'
import { shown } from './words.ts'

/** One thing that the schema does not allow. Never quotes a value. */
export interface Finding {
  readonly message: string
  /** The field of the entry. */
  readonly field: string
}

/** A field that nothing reads. */
export interface UnknownField {
  readonly key: string
  readonly path: readonly string[]
  /** The fields that are known at that place. */
  readonly known: readonly string[]
}

/** The published schema. */
export interface Schema {
  /** The known keys of the document. */
  readonly topLevel: readonly string[]
  /** Judges the fields of an entry, each for itself. */
  check(entry: unknown): { readonly errors: readonly Finding[]; readonly unknown: readonly UnknownField[] }
}

let loading: Promise<Schema> | undefined

/** Loads the schema with the first file that has an entry. */
export function loadSchema(): Promise<Schema> {
  loading ??= load()
  return loading
}

interface JsonSchema {
  readonly $id: string
  readonly properties: Readonly<Record<string, unknown>>
}

async function load(): Promise<Schema> {
  const text = await readFile(new URL('../schema/mcp-toml.schema.json', import.meta.url), 'utf8')
  const schema = JSON.parse(text) as JsonSchema
  let validate: ValidateFunction | undefined
  return {
    topLevel: Object.keys(schema.properties),
    check: (entry) => {
      if (isPlain(entry)) return { errors: [], unknown: [] }
      validate ??= validatorOf(schema)
      const failures = validate(entry) ? [] : (validate.errors ?? [])
      return {
        errors: distinct(failures.filter(({ keyword }) => !SPOKEN_OF_ELSEWHERE.has(keyword))),
        unknown: failures.filter(isUnknown).map(unknownField),
      }
    },
  }
}

/** The validator is loaded here, with the first entry that needs it. */
function validatorOf(schema: JsonSchema): ValidateFunction {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strictTypes: false,
    formats: FORMATS,
    keywords: ['errorMessage'],
    // Half the time: the schema is checked by tests and not by every session, and what runs a few times needs no tuning.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  })
  ajv.addSchema(schema)
  return ajv.getSchema(`${schema.$id}#/definitions/fields`) as ValidateFunction
}

/** How fields go together, and what an address must be, is said in sentences of their own. */
const SPOKEN_OF_ELSEWHERE = new Set(['additionalProperties', 'format', 'propertyNames', 'required'])

function isUnknown({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties'
}

function unknownField(failure: ErrorObject): UnknownField {
  const { properties = {} } = failure.parentSchema as { properties?: Readonly<Record<string, unknown>> }
  const { additionalProperty: key } = failure.params as { additionalProperty: string }
  return { key, path: pathOf(failure), known: Object.keys(properties) }
}

function distinct(failures: readonly ErrorObject[]): Finding[] {
  const findings = new Map<string, Finding>()
  for (const failure of failures) {
    const path = pathOf(failure)
    const message = sentenceOf(path, failure)
    if (!findings.has(message)) findings.set(message, { message, field: path[0] ?? '' })
  }
  return [...findings.values()]
}

/** The schema's `errorMessage`, with its subject where it begins with `must`. */
function sentenceOf(path: readonly string[], failure: ErrorObject): string {
  const { errorMessage } = failure.parentSchema as { errorMessage?: string }
  const [first, second] = path
  const text = errorMessage ?? failure.message ?? 'must be valid'
  if (!text.startsWith('must')) return text
  if (first === undefined) return `the entry ${text}`
  if (second === undefined || ['args', 'env'].includes(first)) return `${first} ${text}`
  if (['push', 'tool_exposure'].includes(first)) return `${first} "${shown(second)}" ${text}`
  return `${path.join('.')} ${text}`
}

function pathOf({ instancePath }: ErrorObject): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

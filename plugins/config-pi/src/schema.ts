import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { isPlain } from './plain.ts'
import { FORMATS } from './urls.ts'
import { shown } from './words.ts'

/** What kind of entry is judged. */
export type EntryKind = 'stdio' | 'http'

/** One thing that the schema does not allow. Never quotes a value. */
export interface Finding {
  readonly message: string
  /** Where, below the entry. */
  readonly field: readonly string[]
}

/** A field that nothing reads. */
export interface UnknownField {
  readonly key: string
  readonly field: readonly string[]
  /** The fields that are known at that place. */
  readonly known: readonly string[]
}

/** The published schema. */
export interface Schema {
  /** The known keys of the document. */
  readonly topLevel: readonly string[]
  fieldsOf(kind: EntryKind): readonly string[]
  check(
    kind: EntryKind,
    entry: unknown,
  ): { readonly errors: readonly Finding[]; readonly unknown: readonly UnknownField[] }
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
  readonly definitions: Readonly<
    Record<EntryKind, { readonly properties: Readonly<Record<string, unknown>> }>
  >
}

async function load(): Promise<Schema> {
  const text = await readFile(new URL('../schema/mcp.schema.json', import.meta.url), 'utf8')
  const schema = JSON.parse(text) as JsonSchema
  let validators: Validators | undefined
  return {
    topLevel: Object.keys(schema.properties),
    fieldsOf: (kind) => Object.keys(schema.definitions[kind].properties),
    check: (kind, entry) => {
      if (isPlain(kind, entry)) return { errors: [], unknown: [] }
      validators ??= validatorsOf(schema)
      const validate = validators[kind]
      const failures = validate(entry) ? [] : (validate.errors ?? [])
      const unknown = failures.filter(isUnknown).map(unknownField)
      return {
        errors: distinct(
          failures.filter((failure) => !isUnknown(failure) && failure.keyword !== 'propertyNames'),
        ),
        unknown,
      }
    },
  }
}

type Validators = Readonly<Record<EntryKind, ValidateFunction>>

/** The validator is loaded here, with the first entry that needs it. */
function validatorsOf(schema: JsonSchema): Validators {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  // 1e999 is a number to pi as well.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strictNumbers: false,
    allowUnionTypes: true,
    formats: FORMATS,
    keywords: ['errorMessage'],
    // Half the time: the schema is checked by tests and not by every session, and what runs a few times needs no tuning.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  })
  ajv.addSchema(schema)
  const definition = (kind: EntryKind): ValidateFunction =>
    ajv.getSchema(`${schema.$id}#/definitions/${kind}`) as ValidateFunction
  return { stdio: definition('stdio'), http: definition('http') }
}

function isUnknown({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties'
}

function unknownField(failure: ErrorObject): UnknownField {
  const { properties = {} } = failure.parentSchema as { properties?: Readonly<Record<string, unknown>> }
  const { additionalProperty: key } = failure.params as { additionalProperty: string }
  return { key, field: fieldOf(failure), known: Object.keys(properties) }
}

function distinct(failures: readonly ErrorObject[]): Finding[] {
  const findings = new Map<string, Finding>()
  for (const failure of failures) {
    const field = fieldOf(failure)
    const message = sentenceOf(field, failure)
    if (!findings.has(message)) findings.set(message, { message, field })
  }
  return [...findings.values()]
}

/** The schema's `errorMessage`; where it begins with `must`, with its subject, as pi words it: `timeout must be …`. */
function sentenceOf(field: readonly string[], failure: ErrorObject): string {
  const { errorMessage } = failure.parentSchema as { errorMessage?: string }
  const [first, second] = field
  const text = errorMessage ?? failure.message ?? 'must be valid'
  if (first === undefined || !text.startsWith('must')) return text
  if (second === undefined || ['args', 'env', 'headers'].includes(first)) return `${first} ${text}`
  if (['push', 'toolExposure'].includes(first)) return `${first} "${shown(second)}" ${text}`
  return `${field.join('.')} ${text}`
}

function fieldOf({ instancePath }: ErrorObject): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

import { isRecord } from '../order.ts'
import { cleanLines } from '../text.ts'
import { KINDS, type Kind, TYPES } from './keywords.ts'
import { Unusable } from './unusable.ts'
import { enterResource, orderData, orderKeys, spendNodes, spendText, type Walk } from './walk.ts'

const LONGEST_WORDS = 4_096

/** Where a value stands. */
interface Place {
  readonly node: Readonly<Record<string, unknown>>
  readonly walk: Walk
  readonly base: string
  readonly depth: number
}

/** A copy of a schema in canonical order. Throws {@link Unusable} with the place of what is wrong. */
export function readSchema(node: unknown, walk: Walk, base: string, path: string, depth: number): unknown {
  if (typeof node === 'boolean') return node
  if (!isRecord(node)) throw new Unusable(`${path} is not a schema`)
  spendNodes(walk, depth)
  const place: Place = { node, walk, base: enterResource(node, walk, base), depth: depth + 1 }
  return orderKeys(node, walk, (value, key) => {
    const kind = KINDS.get(key)
    if (kind === undefined || kind === 'data') return orderData(value, walk, depth + 1)
    // Servers written in Go say null where they mean nothing.
    return value === null || value === undefined
      ? undefined
      : readKeyword(kind, key, value, `${path}/${key}`, place)
  })
}

// oxlint-disable-next-line complexity -- one case for each kind of keyword
function readKeyword(
  kind: Exclude<Kind, 'data'>,
  key: string,
  value: unknown,
  at: string,
  place: Place,
): unknown {
  const { node, walk } = place
  switch (kind) {
    case 'schema':
      return inner(value, at, place)
    case 'schemas':
      return listed(value, at, place)
    case 'items':
      return Array.isArray(value) ? listed(value, at, place) : inner(value, at, place)
    case 'map':
      return orderKeys(mapping(value, at), walk, (schema, name) => inner(schema, `${at}/${name}`, place))
    case 'patterns':
      return orderKeys(mapping(value, at), walk, (schema, name) => {
        if (!isPattern(name))
          throw new Unusable(`the key ${JSON.stringify(name)} of ${at} is not a regular expression`)
        return inner(schema, `${at}/${name}`, place)
      })
    case 'dependencies':
      return orderKeys(mapping(value, at), walk, (entry, name) =>
        Array.isArray(entry) ? names(entry, `${at}/${name}`, walk) : inner(entry, `${at}/${name}`, place),
      )
    case 'lists':
      return orderKeys(mapping(value, at), walk, (entry, name) => names(entry, `${at}/${name}`, walk))
    case 'required':
      // Draft 3 wrote a boolean beside the property; it says nothing to later drafts.
      return typeof value === 'boolean' ? undefined : names(value, at, walk).sort()
    case 'type':
      return isType(value) ? value : wrong(at, 'one of the types of JSON Schema')
    case 'enum':
      return Array.isArray(value) && value.length > 0
        ? orderData(value, walk, place.depth)
        : wrong(at, 'a list of values')
    case 'examples':
      return Array.isArray(value) ? orderData(value, walk, place.depth) : undefined
    case 'words':
      return typeof value === 'string' ? spendText(walk, cleanLines(value, LONGEST_WORDS)) : undefined
    case 'word':
      return typeof value === 'string' ? spendText(walk, value) : undefined
    case 'mark':
      return typeof value === 'boolean' ? value : undefined
    case 'flag':
      return typeof value === 'boolean' ? value : wrong(at, 'true or false')
    case 'count':
      return Number.isInteger(value) && (value as number) >= 0 ? value : wrong(at, 'a count')
    case 'step':
      return isNumber(value) && value > 0 ? value : wrong(at, 'a number above 0')
    case 'number':
      // `{ minimum, exclusiveMinimum: true }` is draft 4's, and OpenAPI 3.0's, for `{ exclusiveMinimum }`.
      if (node[`exclusiveM${key.slice(1)}`] === true) return undefined
      return isNumber(value) ? value : wrong(at, 'a number')
    case 'bound': {
      const limit = value === true ? node[`m${key.slice('exclusiveM'.length)}`] : value
      if (typeof value === 'boolean') return isNumber(limit) ? limit : undefined
      return isNumber(value) ? value : wrong(at, 'a number')
    }
    case 'pattern':
      return typeof value === 'string' && isPattern(value)
        ? spendText(walk, value)
        : wrong(at, 'a regular expression')
    case 'reference':
      if (typeof value !== 'string') return wrong(at, 'a reference')
      walk.references.push({ ref: value, base: place.base, path: at })
      return spendText(walk, value)
  }
}

function inner(schema: unknown, at: string, { walk, base, depth }: Place): unknown {
  return readSchema(schema, walk, base, at, depth)
}

function listed(list: unknown, at: string, place: Place): unknown {
  if (!Array.isArray(list) || list.length === 0) return wrong(at, 'a list of schemas')
  return list.map((schema, index) => inner(schema, `${at}/${index}`, place))
}

function mapping(value: unknown, at: string): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : wrong(at, 'an object')
}

function names(value: unknown, at: string, walk: Walk): string[] {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    return wrong(at, 'a list of names')
  return [...new Set(value)].map((name) => spendText(walk, name))
}

function wrong(at: string, what: string): never {
  throw new Unusable(`${at} is not ${what}`)
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.has(value)
  return value.length > 0 && new Set(value).size === value.length && value.every((type) => TYPES.has(type))
}

/** As pi reads patterns: with the `u` flag, else without. */
function isPattern(source: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return Boolean(new RegExp(source, flags))
    } catch {
      return false
    }
  })
}

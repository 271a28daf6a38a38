import type { JsonSchema } from '@tapline/core'
import { isRecord } from '../order.ts'
import { cleanLine } from '../text.ts'
import { readSchema } from './reading.ts'
import { Unusable } from './unusable.ts'
import { atPointer, findTarget, type Reference, ROOT, startWalk, type Walk } from './walk.ts'

/** A schema that can be used, or why it cannot. */
export type SchemaOutcome = { readonly schema: JsonSchema } | { readonly reason: string }

/* By the object that the server sent: lists are asked for often, and objects do not change. */
const inputs = new WeakMap<object, SchemaOutcome>()
const outputs = new WeakMap<object, SchemaOutcome>()
const NOT_AN_OBJECT = { reason: 'it is not an object' }

/** The arguments of a tool: an object schema in canonical order that means what the server's schema means. */
export function inputSchema(sent: unknown): SchemaOutcome {
  if (!isRecord(sent)) {
    return sent === undefined || sent === null || sent === true
      ? outcome(() => parametersOf({}))
      : NOT_AN_OBJECT
  }
  return remembered(inputs, sent, () => parametersOf(sent))
}

/** Any schema in canonical order: for what a tool answers, and for whatever else is a schema. */
export function canonicalSchema(sent: unknown): SchemaOutcome {
  if (!isRecord(sent)) return NOT_AN_OBJECT
  return remembered(outputs, sent, () => canonical(sent))
}

function remembered(
  memory: WeakMap<object, SchemaOutcome>,
  sent: object,
  make: () => JsonSchema,
): SchemaOutcome {
  const known = memory.get(sent)
  if (known) return known
  const fresh = outcome(make)
  memory.set(sent, fresh)
  // What is canonical stays as it is, so that a schema from the cache costs nothing more.
  if ('schema' in fresh) memory.set(fresh.schema, fresh)
  return fresh
}

function outcome(make: () => JsonSchema): SchemaOutcome {
  try {
    return { schema: make() }
  } catch (thrown) {
    if (thrown instanceof Unusable) return { reason: cleanLine(thrown.message, 300) }
    throw thrown
  }
}

/** Tool parameters must be objects, servers may omit `type`, and some providers insist on `properties`. */
function parametersOf(sent: JsonSchema): JsonSchema {
  const root = withoutRootReference(sent)
  const type = root['type'] ?? 'object'
  if (![type].flat().includes('object'))
    throw new Unusable(`its type is ${JSON.stringify(type)}, not "object"`)
  const { properties, required } = root
  return canonical({
    ...root,
    type: 'object',
    properties: properties ?? {},
    required: required == null || typeof required === 'boolean' ? [] : required,
  })
}

const BESIDE_ROOT_REFERENCE = new Set([
  '$comment',
  '$defs',
  '$ref',
  '$schema',
  'definitions',
  'description',
  'title',
  'type',
])

/**
 * `{ $ref: '#/definitions/Args', definitions }` says the same as `Args` with those definitions, and there
 * the model sees its parameters: providers are sent `properties`, not a reference at the root.
 */
function withoutRootReference(sent: JsonSchema): JsonSchema {
  let root = sent
  for (let hops = 0; hops < 8; hops += 1) {
    const { $ref, ...rest } = root
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return root
    const plain =
      Object.keys(rest).every((key) => BESIDE_ROOT_REFERENCE.has(key)) &&
      (rest['type'] ?? 'object') === 'object'
    const target = plain ? atPointer(sent, $ref.slice(1)) : undefined
    if (!isRecord(target) || '$id' in target || '$anchor' in target) return root
    root = { ...target, ...rest }
  }
  throw new Unusable('it refers to itself and to nothing else')
}

function canonical(root: JsonSchema): JsonSchema {
  const walk = startWalk(root)
  const copy = readSchema(root, walk, ROOT, '#', 0) as JsonSchema
  // The list grows while it is read: what is only reached by reference is walked here.
  for (const reference of walk.references) settle(reference, walk)
  return copy
}

/** A reference must lead to a schema of this document, and not only to itself. */
function settle(reference: Reference, walk: Walk): void {
  const seen = new Set<unknown>()
  let next = reference
  for (;;) {
    const target = findTarget(next, walk)
    if (!target) throw new Unusable(`${reference.path} refers to ${next.ref}, which is not in it`)
    const { node, base } = target
    if (typeof node === 'boolean') return
    if (isRecord(node) && !walk.visited.has(node)) readSchema(node, walk, base, next.ref, 1)
    if (!isRecord(node)) throw new Unusable(`${reference.path} refers to ${next.ref}, which is not a schema`)
    if (seen.has(node)) throw new Unusable(`${reference.path} refers to itself and to nothing else`)
    seen.add(node)
    if (typeof node['$ref'] !== 'string') return
    next = { ref: node['$ref'], base: walk.visited.get(node) ?? base, path: next.path }
  }
}

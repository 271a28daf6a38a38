import { isRecord, setKey } from '../order.ts'
import { Unusable } from './unusable.ts'

const DEEPEST = 64
const MOST_NODES = 20_000
const MOST_TEXT = 512 * 1024

/** A reference as it stands in a schema. */
export interface Reference {
  readonly ref: string
  /** The URI of the schema resource that it stands in. */
  readonly base: string
  readonly path: string
}

/** What one walk through a schema spends and collects. */
export interface Walk {
  nodes: number
  text: number
  /** Every schema that was walked, with the URI of its resource. */
  readonly visited: Map<object, string>
  readonly references: Reference[]
  /** URI → root of the schema resource. */
  readonly resources: Map<string, object>
  /** `<URI>#<name>` → the schema that carries the anchor. */
  readonly anchors: Map<string, object>
}

/** The base URI of a schema without `$id`. Nothing is ever fetched. */
export const ROOT = 'https://schema.invalid/'

/** A walk that has seen nothing but the root. */
export function startWalk(root: object): Walk {
  const resources = new Map([[ROOT, root]])
  return { nodes: 0, text: 0, visited: new Map(), references: [], resources, anchors: new Map() }
}

/** Counts nodes. What is too deep or too large for a model is refused. */
export function spendNodes(walk: Walk, depth: number, count = 1): void {
  walk.nodes += count
  if (depth > DEEPEST) throw new Unusable(`it is nested deeper than ${DEEPEST} levels`)
  if (walk.nodes > MOST_NODES) throw new Unusable('it is too large')
}

/** Counts text, and refuses half characters: providers reject the request that carries them. */
export function spendText(walk: Walk, text: string): string {
  walk.text += text.length
  if (walk.text > MOST_TEXT) throw new Unusable('it is too large')
  if (!text.isWellFormed()) throw new Unusable('it holds text that is not Unicode')
  return text
}

/** A copy of data with the keys of objects in canonical order. Lists keep theirs. */
export function orderData(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value === 'string') return spendText(walk, value)
  if (typeof value !== 'object' || value === null) return value
  spendNodes(walk, depth, Array.isArray(value) ? value.length : 1)
  if (Array.isArray(value)) {
    return value.map((item) => orderData(item, walk, depth + 1))
  }
  return orderKeys(value as Readonly<Record<string, unknown>>, walk, (item) =>
    orderData(item, walk, depth + 1),
  )
}

/** A copy of an object with its keys in the order of UTF-16 code units, and each value read by `read`. */
export function orderKeys(
  value: Readonly<Record<string, unknown>>,
  walk: Walk,
  read: (entry: unknown, key: string) => unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value).sort()) {
    const answer = read(value[key], spendText(walk, key))
    if (answer !== undefined) setKey(copy, key, answer)
  }
  return copy
}

/** Registers `$id` and anchors of a schema; answers the URI of the resource that it stands in. */
export function enterResource(node: Readonly<Record<string, unknown>>, walk: Walk, base: string): string {
  let here = base
  const id = node['$id']
  if (typeof id === 'string' && id.startsWith('#')) walk.anchors.set(`${base}${id}`, node)
  else if (typeof id === 'string') {
    const uri = URL.parse(id, base)
    if (uri) {
      uri.hash = ''
      here = uri.href
      walk.resources.set(here, node)
    }
  }
  for (const anchor of [node['$anchor'], node['$dynamicAnchor']]) {
    if (typeof anchor === 'string') walk.anchors.set(`${here}#${anchor}`, node)
  }
  walk.visited.set(node, here)
  return here
}

/** The schema that a reference names, or undefined when nothing in this document does. */
export function findTarget(
  { ref, base }: Reference,
  walk: Walk,
): { readonly node: unknown; readonly base: string } | undefined {
  const uri = ref.startsWith('#') ? base + ref : URL.parse(ref, base)?.href
  if (uri === undefined) return undefined
  const [document = '', fragment = ''] = uri.split('#', 2)
  const root = walk.resources.get(document)
  if (root === undefined) return undefined
  if (fragment !== '' && !fragment.startsWith('/')) {
    const node = walk.anchors.get(`${document}#${fragment}`)
    return node && { node, base: walk.visited.get(node) ?? document }
  }
  const node = fragment === '' ? root : atPointer(root, fragment)
  if (node === undefined) return undefined
  return { node, base: (isRecord(node) && walk.visited.get(node)) || document }
}

/** What a JSON pointer (RFC 6901, as a URI fragment) names inside `root`. */
export function atPointer(root: unknown, fragment: string): unknown {
  let pointer: string
  try {
    pointer = decodeURIComponent(fragment)
  } catch {
    return undefined
  }
  let node = root
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replace(/~1/g, '/').replace(/~0/g, '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Readonly<Record<string, unknown>>)[key]
  }
  return node
}

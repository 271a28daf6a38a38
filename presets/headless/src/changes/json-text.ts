import { createScanner, findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser'

/**
 * The text of a JSON object, comments and all, with what is at `path` set or, where `value` is undefined, taken out. What
 * is new is written as what stands before it; every other character stays. The place must be there: a key of an object, or
 * an index of an array that has one before it.
 */
export function withValue(json: string, path: JSONPath, value: unknown): string {
  const root = parseTree(json, [], { allowTrailingComma: true })
  const known = root && findNodeAtLocation(root, path)
  if (known)
    return value === undefined ? without(json, known) : replaced(json, endsOf(known), JSON.stringify(value))
  const place = root && findNodeAtLocation(root, path.slice(0, -1))
  if (!place || value === undefined) return json
  const key = path.at(-1) as string | number
  return place.children?.length ? appended(json, place, key, value) : filled(json, place, key, value)
}

type Range = readonly [from: number, to: number]

function without(json: string, value: Node): string {
  const item = value.parent?.type === 'property' ? value.parent : value
  const siblings = item.parent?.children ?? []
  const at = siblings.indexOf(item)
  const [from, to] = endsOf(item)
  const comma = commaAfter(json, to)
  // The next one takes its place.
  if (comma !== undefined && at < siblings.length - 1)
    return replaced(json, [from, afterSpace(json, comma + 1)], '')
  const start = json.slice(0, from).trimEnd().length
  const rest = comma === undefined ? replaced(json, [start, to], '') : replaced(json, [start, comma + 1], '')
  const before = siblings[at - 1]
  if (!before) return emptied(rest, start)
  const earlier = commaAfter(rest, endsOf(before)[1])
  return earlier === undefined || comma !== undefined ? rest : replaced(rest, [earlier, earlier + 1], '')
}

/** An object without anything in it is written without space. */
function emptied(json: string, at: number): string {
  return replaced(json, [at, afterSpace(json, at)], '')
}

/** Behind the last one. */
function appended(json: string, place: Node, key: string | number, value: unknown): string {
  const last = place.children!.at(-1)!
  const [from, end] = endsOf(last)
  const comma = commaAfter(json, end)
  const space = /\s*$/.exec(json.slice(0, from))![0]
  const isCompact = /^"(?:[^"\\]|\\.)*":\S/.test(json.slice(from, end))
  const line = space.lastIndexOf('\n')
  if (line < 0) {
    const isFirst = place.children!.length === 1
    const gap = isFirst ? (isCompact ? '' : ' ') : space
    const text = itemText(place, key, inline(value, isCompact), isCompact)
    return replaced(json, comma === undefined ? [end, end] : [end, comma + 1], `,${gap}${text}`)
  }
  const indent = space.slice(line + 1)
  const text = itemText(place, key, spread(json, value, indent), isCompact)
  const close = place.offset + place.length - 1
  const behind = json.slice(0, close).trimEnd().length
  const added = replaced(json, [behind, behind], `${eolOf(json)}${indent}${text}`)
  return comma === undefined ? replaced(added, [end, end], ',') : added
}

/** Into one that is empty: on lines of its own where it ends its line. */
function filled(json: string, place: Node, key: string | number, value: unknown): string {
  const [from, to] = endsOf(place)
  const before = json.slice(json.lastIndexOf('\n', from) + 1, from)
  const [open, shut] = [json[from]!, json[to - 1]!]
  const isCompact = /":[^\s]/.test(json) && !/":\s/.test(json)
  const hasOwnLine =
    /^\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*)?$/.test(before) && /^\s*,?\s*?(?:\r?\n|$)/.test(json.slice(to))
  if (!hasOwnLine) {
    const gap = isCompact ? '' : ' '
    const text = itemText(place, key, inline(value, isCompact), isCompact)
    return replaced(json, [from, to], `${open}${gap}${text}${gap}${shut}`)
  }
  const outer = /^\s*/.exec(before)![0]
  const indent = `${outer}${unitOf(json)}`
  const eol = eolOf(json)
  const text = itemText(place, key, spread(json, value, indent), isCompact)
  return replaced(json, [from, to], `${open}${eol}${indent}${text}${eol}${outer}${shut}`)
}

function itemText({ type }: Node, key: string | number, value: string, isCompact: boolean): string {
  return type === 'array' ? value : `${JSON.stringify(key)}:${isCompact ? '' : ' '}${value}`
}

function inline(value: unknown, isCompact: boolean): string {
  return isCompact ? JSON.stringify(value) : JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, ' ')
}

function spread(json: string, value: unknown, indent: string): string {
  return JSON.stringify(value, undefined, unitOf(json)).replaceAll('\n', `${eolOf(json)}${indent}`)
}

function unitOf(json: string): string {
  return /^[ \t]+(?=")/m.exec(json)?.[0] ?? '  '
}

function eolOf(json: string): string {
  return json.includes('\r\n') ? '\r\n' : '\n'
}

/** Where the comma is that follows, behind comments too. */
function commaAfter(json: string, end: number): number | undefined {
  const scanner = createScanner(json, true)
  scanner.setPosition(end)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return json[at] === ',' ? at : undefined
}

function afterSpace(json: string, at: number): number {
  return at + /^\s*/.exec(json.slice(at))![0].length
}

function endsOf({ offset, length }: Node): Range {
  return [offset, offset + length]
}

function replaced(json: string, [from, to]: Range, text: string): string {
  return `${json.slice(0, from)}${text}${json.slice(to)}`
}

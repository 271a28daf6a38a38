import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { refusal, type ServerChange } from './change.ts'

type Fields = Readonly<Record<string, unknown>>

const ENTRY = /^\s*\[\[\s*(?:server|"server"|'server')\s*\]\]\s*(?:#[^\n]*)?$/
const HEADER = /^\s*\[/

/**
 * The text of an mcp.toml with one line of a server's entry changed or added; comments and order stay. What cannot be
 * done so is refused: the result is read again and compared with what it should say.
 */
export function changedToml(path: string, text: string, name: string, change: ServerChange): string {
  const before = parsed(path, text)
  const entries = Array.isArray(before.server) ? (before.server as readonly Fields[]) : []
  const index = entries.findLastIndex((entry) => entry.name === name)
  if (index < 0) throw refusal(path, `it has no entry for the server "${name}"; reload with /mcp reload.`)
  const wanted = Object.entries(change).filter(([, value]) => value !== undefined)
  const lines = text.split('\n')
  for (const [key, value] of wanted) setLine(lines, index, key, value)
  const written = lines.join('\n')
  const expected = entries.map((entry, at) =>
    at === index ? { ...entry, ...Object.fromEntries(wanted) } : entry,
  )
  if (!says(written, { ...before, server: expected })) {
    const words = wanted.map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(' and ')
    throw refusal(
      path,
      `its entry for "${name}" is written in an unusual way; write ${words} there yourself.`,
    )
  }
  return written
}

/** Changes the line of this key in the entry of this number, or adds one below the name. */
function setLine(lines: string[], index: number, key: string, value: unknown): void {
  const starts = lines.flatMap((line, at) => (ENTRY.test(line) ? [at] : []))
  const start = starts[index]
  if (start === undefined) return
  const next = lines.findIndex((line, at) => at > start && HEADER.test(line))
  const block = lines.slice(start, next < 0 ? undefined : next)
  const present = block.findIndex((line) => keyed(key).test(line))
  if (present > 0) {
    const line = lines[start + present]!
    const replaced = line.replace(/(=\s*)(?:true|false|"[^"\\]*"|'[^']*')/, `$1${JSON.stringify(value)}`)
    lines[start + present] = replaced
    return
  }
  const below = Math.max(
    0,
    block.findIndex((line) => keyed('name').test(line)),
  )
  const model = lines[start + below]!
  const indent = /^\s*/.exec(model)?.[0] ?? ''
  const end = model.endsWith('\r') ? '\r' : ''
  lines.splice(start + below + 1, 0, `${indent}${key} = ${JSON.stringify(value)}${end}`)
}

function keyed(key: string): RegExp {
  return new RegExp(`^\\s*(?:${key}|"${key}"|'${key}')\\s*=`)
}

function says(text: string, expected: unknown): boolean {
  try {
    return isDeepStrictEqual(plain(parse(text)), plain(expected))
  } catch {
    return false
  }
}

/** Dates and tables without their prototypes, which differ from one parse to the next. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)),
  )
}

function parsed(path: string, text: string): Fields {
  try {
    return parse(text)
  } catch {
    throw refusal(path, 'it is not valid TOML; fix it first.')
  }
}

import { isDeepStrictEqual } from 'node:util'
import { refusal, type ServerChange } from './change.ts'
import { withValue } from './json-text.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The text of an mcp.json with a server's entry changed, and nothing else. As in pi, an entry that defines its server
 * does without what is the default, while an override says it. `override` adds the entry where there is none.
 */
export function changedJson(
  path: string,
  text: string,
  name: string,
  change: ServerChange,
  override = false,
): string {
  const [bom, body] = text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
  const json = body.trim() === '' ? '{}\n' : body
  const before = parsed(path, json)
  const servers = before.mcpServers ?? {}
  if (!isFields(servers)) throw refusal(path, 'its "mcpServers" is not an object; fix it first.')
  const entry = Object.hasOwn(servers, name) ? servers[name] : undefined
  if (entry === undefined ? !override : !isFields(entry))
    throw refusal(path, `it has no entry for the server "${name}"; reload with /mcp reload.`)
  const next = changed((entry ?? {}) as Fields, change)
  const written = withEntry(json, before, name, next)
  if (!isDeepStrictEqual(parsed(path, written), { ...before, mcpServers: { ...servers, [name]: next } }))
    throw refusal(path, `the server "${name}", or a key of it, stands in it more than once; take one out.`)
  return bom + written
}

function withEntry(json: string, { mcpServers }: Fields, name: string, next: Fields): string {
  if (mcpServers === undefined) return withValue(json, ['mcpServers'], { [name]: next })
  if (!Object.hasOwn(mcpServers as Fields, name)) return withValue(json, ['mcpServers', name], next)
  return ['enabled', 'exposure'].reduce(
    (text, key) => withValue(text, ['mcpServers', name, key], next[key]),
    json,
  )
}

function changed(entry: Fields, { enabled, exposure }: ServerChange): Fields {
  const defines = ['command', 'url', 'type'].some((key) => entry[key] !== undefined)
  const next: Record<string, unknown> = { ...entry }
  const set = (key: string, value: unknown, byDefault: unknown): void => {
    if (value === undefined) return
    if (defines && value === byDefault) delete next[key]
    else next[key] = value
  }
  set('enabled', enabled, true)
  set('exposure', exposure, 'codemode')
  return next
}

function parsed(path: string, json: string): Fields {
  try {
    const value: unknown = JSON.parse(json)
    if (isFields(value)) return value
  } catch {
    // Its message would quote the file.
  }
  throw refusal(path, 'it is not a valid JSON object; fix it first.')
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

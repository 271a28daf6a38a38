import { isDeepStrictEqual } from 'node:util'
import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'
import { refusal, type ServerChange } from './change.ts'

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
  const written =
    entry === undefined ? edited(json, ['mcpServers', name], next) : withFields(json, name, next)
  if (!isDeepStrictEqual(parsed(path, written), { ...before, mcpServers: { ...servers, [name]: next } }))
    throw refusal(path, `the server "${name}", or a key of it, stands in it more than once; take one out.`)
  return bom + written
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

function withFields(json: string, name: string, next: Fields): string {
  return ['enabled', 'exposure'].reduce((text, key) => withField(text, name, key, next[key]), json)
}

function withField(json: string, name: string, key: string, value: unknown): string {
  const entry = findNodeAtLocation(parseTree(json) as Node, ['mcpServers', name])
  const last = entry?.children?.at(-1)
  const known = entry?.children?.some(({ children }) => children?.[0]?.value === key)
  const oneLine = entry && !json.slice(entry.offset, entry.offset + entry.length).includes('\n')
  if (value === undefined || known || !last || !oneLine) return edited(json, ['mcpServers', name, key], value)
  // The formatter would spread the whole entry over lines.
  const end = last.offset + last.length
  return `${json.slice(0, end)}, ${JSON.stringify(key)}: ${JSON.stringify(value)}${json.slice(end)}`
}

function edited(json: string, path: (string | number)[], value: unknown): string {
  const indent = /^[ \t]+(?=")/m.exec(json)?.[0] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  }
  return applyEdits(json, modify(json, path, value, { formattingOptions }))
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

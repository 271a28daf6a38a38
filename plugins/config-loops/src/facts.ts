import { isTable } from './document.ts'
import type { Table } from './document.ts'
import { shownEndpoint } from './endpoint.ts'
import { quoted, shown } from './words.ts'

const LONGEST = 2000

/**
 * What a person must see before saying yes to a file: every command, address and credential
 * reference in it, also of entries that are not valid today, because the yes outlives this version.
 */
export function factsOf({ server }: Table): string[] {
  const entries: readonly unknown[] = Array.isArray(server) ? server : [server]
  return entries.flatMap((entry, index) => (isTable(entry) ? factsOfEntry(entry, index + 1) : []))
}

function factsOfEntry(entry: Table, number: number): string[] {
  const { name, command, args, env, cwd, inherit_env: inherit, endpoint, auth } = entry
  const who = typeof name === 'string' && name.trim() !== '' ? shown(name) : `#${number}`
  const facts: string[] = []
  if (command !== undefined)
    facts.push(`runs: ${[command, ...(Array.isArray(args) ? args : [])].map(word).join(' ')}`)
  if (command !== undefined && cwd !== undefined) facts.push(`runs in: ${word(cwd)}`)
  if (command !== undefined && isTable(env) && Object.keys(env).length > 0)
    facts.push(`sets in its environment: ${Object.keys(env).map(quoted).join(', ')}`)
  if (command !== undefined && inherit === true)
    facts.push('gets your whole environment, with every key and token in it')
  if (endpoint !== undefined) facts.push(`connects to: ${shownEndpoint(endpoint)}`)
  if (isTable(auth)) facts.push(`sends the credential: ${reference(auth.token_keychain_ref)}`)
  if (facts.length > 0) facts.push(...injection(entry))
  if (facts.length > 0 && Array.isArray(entry.subscribe) && entry.subscribe.length > 0)
    facts.push(`subscribes to: ${entry.subscribe.map(word).join(', ')}`)
  if (facts.length > 0 && entry.channel === true)
    facts.push('asks to be a channel: what it sends would start turns with its own words')
  return facts.map((fact) => `${who} ${bounded(fact)}`)
}

function injection({ inject_summary: summary, inject_and_run: run, push }: Table): string[] {
  const short = run === true ? [['default', 'run']] : summary === true ? [['default', 'summary']] : []
  const policies = new Map<string, unknown>(short as [string, string][])
  for (const [method, policy] of isTable(push) ? Object.entries(push) : []) policies.set(method, policy)
  return Array.from(
    policies,
    ([method, policy]) => `its pushes (${method === 'default' ? 'all' : quoted(method)}): ${meaning(policy)}`,
  )
}

function meaning(written: unknown): string {
  const { policy, limit, windows } = isTable(written)
    ? written
    : { policy: written, limit: undefined, windows: undefined }
  const conditions = [
    ...(limit === undefined ? [] : [`at most ${word(limit)}`]),
    ...(windows === undefined ? [] : [`in windows: ${word(windows)}`]),
  ]
  return [meaningOf(policy), ...conditions].join(', ')
}

function meaningOf(policy: unknown): string {
  if (policy === 'run') return 'run, shown in the chat and each starts one turn'
  return policy === 'summary' ? 'summary, shown in the chat' : word(policy)
}

/** A reference that would be refused may be a token in the wrong field. */
function reference(ref: unknown): string {
  return typeof ref === 'string' && ref.startsWith('PI_MCP_TOKEN_')
    ? quoted(ref)
    : 'one that a project may not name'
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? quoted(String(value))
    : '(not a string)'
}

function bounded(fact: string): string {
  return fact.length > LONGEST
    ? `${fact.slice(0, LONGEST)}… (${fact.length - LONGEST} more characters: read the file)`
    : fact
}

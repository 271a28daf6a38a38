import type { Rule } from '../types.ts'

/** `triggers.json`. Entries that are no rules, and what else stands there, are kept as they are. */
export interface RulesFile {
  readonly version: number
  readonly rules: readonly unknown[]
}

/** They are names of fields elsewhere, so they may be no name that every object has. */
const RULE_ID = /^dyn-[\w-]{1,80}$/

export function isRulesFile(content: unknown): content is RulesFile {
  return isRecord(content) && Array.isArray(content.rules)
}

/** The rule that an entry of the file is; nothing when it lacks what a rule needs. */
export function ruleOf(entry: unknown): Rule | undefined {
  if (!isRecord(entry)) return undefined
  const { id, condition, action, cwd, createdAt, createdBy } = entry
  if (!isText(id) || !RULE_ID.test(id) || !isText(condition) || !isText(action) || !isText(cwd))
    return undefined
  const by = isRecord(createdBy) && isText(createdBy.sessionId) ? { sessionId: createdBy.sessionId } : {}
  return {
    id,
    condition,
    action,
    cwd,
    enabled: entry.enabled !== false,
    fireOnce: entry.fireOnce !== false,
    promoteToChat: entry.promoteToChat === true,
    createdAt: isText(createdAt) ? createdAt : '',
    createdBy: by,
    ...texts(entry, [
      'firedAt',
      'model',
      'thinking',
      'lastCheckFailedAt',
      'disabledReason',
      'cwdMissingSince',
    ]),
    ...numbers(entry, ['timeoutMs', 'consecutiveFailures']),
  }
}

/** An entry with some fields replaced; undefined takes one away, and what we do not know stays. */
export function changed(entry: unknown, changes: Readonly<Record<string, unknown>>): unknown {
  const merged = { ...(entry as Record<string, unknown>), ...changes }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
}

/** Rules belong to no machine: what older versions wrote of one goes. */
export function withoutHost(entry: unknown): unknown {
  return isRecord(entry) && Object.hasOwn(entry, 'host') ? changed(entry, { host: undefined }) : entry
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function texts(entry: Record<string, unknown>, names: readonly (keyof Rule)[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (isText(entry[name]) ? [[name, entry[name]]] : [])))
}

function numbers(entry: Record<string, unknown>, names: readonly (keyof Rule)[]): Record<string, number> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = entry[name]
      return typeof value === 'number' && Number.isFinite(value) && value > 0 ? [[name, value]] : []
    }),
  )
}

import type { PushPolicies, PushPolicy, PushRule } from '../types/index.ts'

/** Policies that the pipeline itself fulfils. */
export const BUILT_IN_POLICIES = ['ignore', 'log'] as const

/**
 * The policy of a method: its own entry, else the first pattern that matches, else `default`, else
 * `rules` where a rules sink is loaded, else `log`. List changes are found under both spellings.
 */
export function policyFor(
  policies: PushPolicies,
  method: string,
  hasSink: (name: string) => boolean,
): PushPolicy | PushRule {
  for (const name of spellings(method)) {
    if (Object.hasOwn(policies, name)) return policies[name] as PushPolicy | PushRule
  }
  for (const [pattern, policy] of Object.entries(policies)) {
    if (pattern.includes('*') && spellings(method).some((name) => matchesPattern(pattern, name)))
      return policy
  }
  return policies.default ?? (hasSink('rules') ? 'rules' : 'log')
}

/** A policy with its conditions, whichever way it was written. */
export function ruleOf(policy: PushPolicy | PushRule): PushRule {
  return typeof policy === 'string' ? { policy } : policy
}

/** Whether `name` matches `pattern`, where `*` stands for any characters. Linear in both. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const first = parts[0] as string
  const last = parts.at(-1) as string
  if (parts.length === 1) return pattern === name
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false
  let at = first.length
  const end = name.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** `list_changed` is the protocol's spelling, `listChanged` pi-loops': policies may use either. */
function spellings(method: string): readonly string[] {
  if (method.endsWith('list_changed')) return [method, method.replace(/list_changed$/, 'listChanged')]
  if (method.endsWith('listChanged')) return [method, method.replace(/listChanged$/, 'list_changed')]
  return [method]
}

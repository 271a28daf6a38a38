import type { Projects } from '@tapline/core'
import type { Rule } from '../types.ts'

/** Rules that one sub-agent checks together, in one directory. */
export interface Group {
  /** Real path. */
  readonly cwd: string
  readonly rules: readonly Rule[]
}

/**
 * Rules by directory. One whose last check failed is checked alone until it succeeds: what is wrong with it then fails
 * no other rule, and what was wrong with another no longer fails it.
 */
export function groupsOf(rules: readonly Rule[], projects: Projects): readonly Group[] {
  const groups = new Map<string, { readonly cwd: string; readonly rules: Rule[] }>()
  for (const rule of rules) {
    const cwd = projects.real(rule.cwd)
    const name = (rule.consecutiveFailures ?? 0) > 0 ? `${rule.id} ${cwd}` : cwd
    const group = groups.get(name)
    if (group) group.rules.push(rule)
    else groups.set(name, { cwd, rules: [rule] })
  }
  return [...groups.values()]
}

import { realOf } from '../project.ts'
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
export function groupsOf(rules: readonly Rule[]): readonly Group[] {
  const groups = new Map<string, Rule[]>()
  for (const rule of rules) {
    const cwd = realOf(rule.cwd)
    const name = (rule.consecutiveFailures ?? 0) > 0 ? `${rule.id} ${cwd}` : cwd
    const group = groups.get(name)
    if (group) group.push(rule)
    else groups.set(name, [rule])
  }
  return [...groups.values()].map((members) => ({ cwd: realOf((members[0] as Rule).cwd), rules: members }))
}

import type { Rule } from '../types.ts'

/** Finds the rule that a person or a model named. Numbers name none: they are places in a list that we did not print. */
export function resolveRule(
  ref: string,
  rules: readonly Rule[],
  isOurs: (rule: Rule) => boolean,
): { readonly rule: Rule } | { readonly error: string } {
  const id = ref.trim()
  if (id === '') return { error: 'Say which rule: its id, or the beginning of it.' }
  const exact = rules.find((rule) => rule.id === id)
  if (exact) return { rule: exact }
  const begun = /^\d+$/.test(id) ? [] : rules.filter((rule) => rule.id.startsWith(id) && isOurs(rule))
  const [only] = begun
  if (only && begun.length === 1) return { rule: only }
  return begun.length > 1
    ? { error: `${begun.length} rules begin with '${id}': ${namesOf(begun)}.` }
    : { error: `no dynamic trigger rule with id '${id}'` }
}

const MOST_NAMED = 5

function namesOf(rules: readonly Rule[]): string {
  const names = rules.slice(0, MOST_NAMED).map((rule) => rule.id)
  return [...names, ...(rules.length > MOST_NAMED ? ['…'] : [])].join(', ')
}

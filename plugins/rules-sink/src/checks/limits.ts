import type { Rule } from '../types.ts'

/** Longer timers may end at once. */
const LONGEST_MS = 24 * 60 * 60_000

/** The longest time that any of the rules was given, in milliseconds. */
export function longest(rules: readonly Rule[]): number | undefined {
  const times = rules.flatMap((rule) => rule.timeoutMs ?? [])
  return times.length === 0 ? undefined : Math.min(Math.max(...times), LONGEST_MS)
}

/** Model and thinking of one and the same rule: the first that names a model, else the first that names a level. */
export function modelOf(rules: readonly Rule[]): { readonly model?: string; readonly thinking?: string } {
  const { model, thinking } =
    rules.find((rule) => rule.model !== undefined) ?? rules.find((rule) => rule.thinking !== undefined) ?? {}
  return { ...(model === undefined ? {} : { model }), ...(thinking === undefined ? {} : { thinking }) }
}

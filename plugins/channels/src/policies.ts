import type { PushPolicies } from '@tapline/core'
import { EVENT_METHOD } from './contract.ts'

/**
 * Whether somebody said what becomes of channel events: by the method's own name, or by a pattern that matches it.
 * What a server's `default` says is said of its other pushes.
 */
export function hasOwnPolicy(push: PushPolicies): boolean {
  return Object.keys(push).some((name) => name === EVENT_METHOD || (name.includes('*') && matches(name)))
}

/** Whether the event's method matches a pattern in which `*` stands for any characters. */
function matches(pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop() ?? ''
  const end = EVENT_METHOD.length - last.length
  if (!EVENT_METHOD.startsWith(first) || !EVENT_METHOD.endsWith(last) || first.length > end) return false
  let at = first.length
  for (const part of rest) {
    const found = EVENT_METHOD.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

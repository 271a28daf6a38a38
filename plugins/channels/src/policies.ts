import type { PushPolicies, ServerSpec } from '@tapline/core'
import { EVENT_METHOD, SINK } from './contract.ts'

/** Whether its entry, or a policy for channel events, lets a server be a channel, once a person has said yes. */
export function optsIn({ channel, push }: Pick<ServerSpec, 'channel' | 'push'>): boolean {
  if (channel !== undefined) return channel
  const own = ownPolicy(push)
  return (typeof own === 'string' ? own : own?.policy) === SINK
}

/**
 * What somebody said becomes of channel events: by the method's own name, or by the first pattern that matches it. What
 * a server's `default` says is said of its other pushes.
 */
export function ownPolicy(push: PushPolicies): PushPolicies[string] | undefined {
  if (Object.hasOwn(push, EVENT_METHOD)) return push[EVENT_METHOD]
  return Object.entries(push).find(([name]) => name.includes('*') && matches(name))?.[1]
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

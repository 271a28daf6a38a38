import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'

/**
 * Makes pi's tools of these names active, and what `register` registers, in front of Tapline's own. pi keeps the order
 * in which tools became active: without this, the model would be told another order when `own` came from the cache.
 */
export function activateTools(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  names: readonly string[],
  isOwn: (name: string) => boolean,
  register?: () => void,
): void {
  const fresh = isFresh(ctx)
  const before = pi.getActiveTools()
  const own = before.filter(isOwn)
  // Whenever a tool is registered, pi goes through all that are active.
  if (register && fresh && own.length > 0) pi.setActiveTools(before.filter((name) => !isOwn(name)))
  register?.()
  const active = pi.getActiveTools()
  const others = active.filter((name) => !isOwn(name))
  const added = names.filter((name) => !active.includes(name))
  // What was registered after them stands behind them, where they come from the cache.
  const inFront = own.length === 0 || active.indexOf(own[0] as string) === others.length
  if (added.length === 0 && (inFront || !fresh)) return
  // What a conversation has told the model stays as it is.
  if (fresh && active.some(isOwn)) pi.setActiveTools(others)
  pi.setActiveTools([...others, ...added, ...own])
}

/** Whether nothing has been said yet. */
export function isFresh({ sessionManager }: ExtensionContext): boolean {
  return sessionManager.getEntries().every(({ type }) => type !== 'message')
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { DedupVerdict, Host, Trigger } from '@tapline/core'
import { SINK } from './contract.ts'

/** The window that owns the project is given this long to take an event that it has got too, in milliseconds. */
const HEAD_START_MS = 1_500
const ASK_AGAIN_MS = 250

/** An event that is this window's to deal with, until it says how that ended. */
export interface OwnEvent {
  done(): void
  failed(): void
}

/**
 * Takes an event once for all windows of the project: the one that owns the project at once, the others after a
 * moment, since a server may tell only one of them. Whoever still delivers it elsewhere at the `deadline` (of
 * `performance.now()`) has it. A reason when it leads nowhere, undefined when it is too late for anybody.
 */
export async function takeEvent(
  host: Host,
  trigger: Trigger,
  deadline: number,
  signal: AbortSignal,
): Promise<OwnEvent | 'elsewhere' | { readonly dropped: string } | undefined> {
  const { windows, claim } = host
  const owns = !windows || windows.isSelf(windows.ownerOf(host.paths.cwd))
  // Counted from its arrival: of a burst only the first one waits.
  if (!owns) await pause(HEAD_START_MS - (Date.now() - trigger.receivedAt), signal)
  while (!signal.aborted) {
    const verdict = await claim?.call(host, { trigger, scope: 'project', policy: SINK })
    if (!verdict) return { done: ignore, failed: ignore }
    if (verdict.verdict === 'first') return settling(verdict)
    if (verdict.verdict === 'drop') return { dropped: verdict.reason }
    // Claimed on the way here, for this very delivery: whoever claimed it settles it.
    if (verdict.of === trigger.traceId) return { done: ignore, failed: ignore }
    if (verdict.verdict === 'duplicate' || performance.now() > deadline) return 'elsewhere'
    await pause(Math.min(ASK_AGAIN_MS, Math.max(20, verdict.until - Date.now())), signal)
  }
  return undefined
}

/** A claim that cannot be settled is the window's loss, not the event's. */
function settling(verdict: Extract<DedupVerdict, { verdict: 'first' }>): OwnEvent {
  const settle = (how: 'done' | 'failed') => (): void => {
    try {
      verdict[how]?.()
    } catch {
      // Reported by whoever provides the window.
    }
  }
  return { done: settle('done'), failed: settle('failed') }
}

/** Ends early, without a throw, when nobody waits any more. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return
  await sleep(Math.min(ms, HEAD_START_MS), undefined, { signal, ref: false }).catch(ignore)
}

function ignore(): void {}

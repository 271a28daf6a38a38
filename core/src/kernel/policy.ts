import type { HookName } from './hooks.ts'

/** What the guard does at one hook. */
export interface HookPolicy {
  /** Milliseconds that an asynchronous tap may take. None on synchronous hooks. */
  readonly deadlineMs?: number
  /** What it means when no tap answers. */
  readonly silence: string
  /** `skip`: a failing tap has no opinion. `fail`: it fails the one thing that was asked for. */
  readonly failure: 'skip' | 'fail'
}

/** The policy table: data beside the hook table. */
export const HOOK_POLICIES: Readonly<Record<HookName, HookPolicy>> = {
  config: { deadlineMs: 5_000, silence: 'no servers', failure: 'skip' },
  connect: { deadlineMs: 30_000, silence: 'NO_TRANSPORT for that server', failure: 'fail' },
  notify: { silence: 'the notification is dropped as undeclared', failure: 'skip' },
  dedup: { deadlineMs: 5_000, silence: 'first', failure: 'skip' },
  deliver: { deadlineMs: 10_000, silence: 'the inbox', failure: 'skip' },
  registerTool: { silence: 'the tool as it is', failure: 'skip' },
}

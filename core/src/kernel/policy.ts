import {
  type Accepts,
  acceptsConfig,
  acceptsConnect,
  acceptsDedup,
  acceptsDeliver,
  acceptsNotify,
  acceptsTool,
} from './answers.ts'
import type { HookName } from './hooks.ts'

/** What the guard does at one hook. */
export interface HookPolicy {
  /** Milliseconds that an asynchronous tap may take. None on synchronous hooks. */
  readonly deadlineMs?: number
  /** What it means when no tap answers. */
  readonly silence: string
  /** `skip`: a failing tap has no opinion. `fail`: it fails the one thing that was asked for. */
  readonly failure: 'skip' | 'fail'
  /** Whether an answer is whole; what is not counts as a failure. Any object when absent. */
  readonly accepts?: Accepts
}

/** The policy table: data beside the hook table. */
export const HOOK_POLICIES: Readonly<Record<HookName, HookPolicy>> = {
  config: { deadlineMs: 5_000, silence: 'no servers', failure: 'skip', accepts: acceptsConfig },
  connect: {
    deadlineMs: 30_000,
    silence: 'NO_TRANSPORT for that server',
    failure: 'fail',
    accepts: acceptsConnect,
  },
  notify: {
    silence: 'the notification is dropped as undeclared',
    failure: 'skip',
    accepts: acceptsNotify,
  },
  dedup: { deadlineMs: 5_000, silence: 'first', failure: 'skip', accepts: acceptsDedup },
  deliver: { deadlineMs: 10_000, silence: 'the inbox', failure: 'skip', accepts: acceptsDeliver },
  registerTool: { silence: 'the tool as it is', failure: 'skip', accepts: acceptsTool },
}

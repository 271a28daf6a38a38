import type { Kernel } from '../kernel/index.ts'
import type { Receipt, Trigger } from '../types/index.ts'
import type { Accounts } from './accounts.ts'
import { Delivery } from './delivery.ts'
import type { Lane } from './lane.ts'
import { OverflowGatherer } from './overflow.ts'

type Sinks = Pick<Kernel, 'hooks' | 'hasSink'>

/** Offers a trigger to the inbox; `then` hears the receipt, or that there is none. */
export function toInbox(
  { hooks, hasSink }: Sinks,
  trigger: Trigger,
  delivery: Delivery,
  then: (receipt: Receipt | undefined) => void,
): void {
  if (!hasSink('inbox')) return then(undefined)
  hooks.deliver.for('inbox').callAsync(trigger, delivery, (_error, receipt) => then(receipt ?? undefined))
}

/** Puts what exceeds a limit of this lane into the inbox, as one line that says how many. */
export function overflowOf(lane: Lane, sinks: Sinks, accounts: Accounts): OverflowGatherer {
  return new OverflowGatherer(
    (triggers, overflow) =>
      new Promise((resolve) => {
        const reason = `more than ${overflow.limit}`
        const newest = triggers.at(-1) as Trigger
        toInbox(sinks, newest, new Delivery(lane.policy, reason, overflow), (receipt) => {
          const state = receipt ? 'redirected' : 'dropped'
          for (const trigger of triggers) accounts.end(lane, trigger, state, receipt?.sink, reason)
          resolve()
        })
      }),
  )
}

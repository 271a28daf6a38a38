import type { Kernel } from '../kernel/index.ts'
import type { Receipt, Trigger } from '../types/index.ts'
import type { Accounts } from './accounts.ts'
import { Delivery } from './delivery.ts'
import type { Lane } from './lane.ts'
import { OverflowGatherer } from './overflow.ts'

type Sinks = Pick<Kernel, 'hooks' | 'hasSink'>

/** Observers are told of so many in one turn of the event loop: those of a whole second of a flood would hold it up. */
const AT_ONCE = 200

/** Why triggers end that nobody has had time for. */
export const ENDED = 'the session ended'

/** Offers a trigger to the inbox; `then` hears the receipt, or that it did not take it. */
export function toInbox(
  { hooks, hasSink }: Sinks,
  trigger: Trigger,
  delivery: Delivery,
  then: (receipt: Receipt | undefined) => void,
): void {
  if (!hasSink('inbox')) return then(undefined)
  hooks.deliver.for('inbox').callAsync(trigger, delivery, (_error, receipt) => {
    const taken = receipt && receipt.refused === undefined && receipt.dropped === undefined
    then(taken ? receipt : undefined)
  })
}

/**
 * What puts into the inbox, as one line that says how many, what exceeds this limit of the lane; without a limit, what
 * had no turn before the session ended.
 */
export function gathererOf(
  lane: Lane,
  limit: string | undefined,
  sinks: Sinks,
  accounts: Accounts,
): OverflowGatherer {
  const key = limit ?? ''
  const known = lane.overflows.get(key)
  if (known) return known
  const reason = limit === undefined ? ENDED : `more than ${limit}`
  const gatherer = new OverflowGatherer(
    limit,
    (triggers, overflow) =>
      new Promise((resolve) => {
        const newest = triggers.at(-1) as Trigger
        toInbox(sinks, newest, new Delivery(lane.policy, reason, overflow), (receipt) => {
          const state = receipt ? 'redirected' : 'dropped'
          let ended = 0
          const endSome = (): void => {
            for (const trigger of triggers.slice(ended, (ended += AT_ONCE)))
              accounts.end(lane, trigger, state, receipt?.sink, reason)
            if (ended < triggers.length) setImmediate(endSome)
            else resolve()
          }
          endSome()
        })
      }),
  )
  lane.overflows.set(key, gatherer)
  return gatherer
}

import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { Rules } from '@tapline/rules-sink'

/** What decides about turns that nobody asked for. */
export type Budget = Pick<Rules, 'overBudget' | 'recordSpend' | 'status'>

/** Counts what turns cost that pushes have started. */
export interface Spending {
  /** From here on it is such a turn. */
  begin(): void
  /** The agent has nothing to do. */
  end(): void
  close(): void
}

/** Follows this session's answers: what each cost is recorded as soon as it is known. */
export function countSpending(pi: ExtensionAPI, budget: () => Budget | undefined): Spending {
  let counting = false
  const stop = pi.on('message_end', ({ message }) => {
    if (counting && message.role === 'assistant') budget()?.recordSpend(message.usage.cost.total)
  })
  return {
    begin: () => (counting = true),
    end: () => (counting = false),
    close: stop,
  }
}

/** Why a push may not start a turn now; nothing when it may. */
export function refusal(budget: Budget | undefined): string | undefined {
  if (!budget?.overBudget()) return undefined
  return `the daily budget of $${budget.status().budget.capUsd} is spent`
}

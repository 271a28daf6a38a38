import type { Kernel } from '../kernel/index.ts'
import type { PushPolicy } from '../types/index.ts'

/** What `createPipeline` takes. */
export interface PipelineOptions {
  readonly kernel: Pick<Kernel, 'hooks' | 'hasSink'>
  /** The policy for a method of a server. */
  policyFor(server: string, method: string): PushPolicy
  /** Nothing is delivered or claimed: what would be is said to have reached the sink `watch`. */
  readonly watchOnly?: boolean
  /** Told once of each policy whose sink is not loaded. */
  onMissingSink?(policy: string, server: string): void
}

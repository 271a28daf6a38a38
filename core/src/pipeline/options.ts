import type { Kernel } from '../kernel/index.ts'
import type { Frame, PushPolicy, PushRule, Trigger } from '../types/index.ts'
import type { ServerBook } from './book.ts'

/** What `createPipeline` takes. */
export interface PipelineOptions {
  readonly kernel: Pick<Kernel, 'hooks' | 'hasSink'>
  /** The policy for a method of a server. */
  policyFor(server: string, method: string): PushPolicy | PushRule
  /** Nothing is delivered or claimed: what would be is said to have reached the sink `watch`. */
  readonly watchOnly?: boolean
  /** Whether another process has the same project open: it then delivers what waits when this one ends. */
  hasCompany?(): boolean
  /** Told once of each policy whose sink is not loaded. */
  onMissingSink?(policy: string, server: string): void
}

/** Turns notifications into delivered, accounted-for triggers. */
export interface Pipeline {
  /** Takes one notification. Never throws. */
  receive(server: string, frame: Pick<Frame, 'method' | 'params'>): void
  /** Takes a trigger of a source that is not an MCP server. */
  admit(trigger: Trigger): void
  /** The books of a server, made when first asked for. */
  book(server: string): ServerBook
  /** Resolves when nothing is on its way; held triggers do not count. */
  idle(): Promise<void>
  /** The policies may have changed: each method's is asked for anew. */
  reroute(): void
  /**
   * Ends. What waits for its window is delivered now, unless another process will; what is not delivered within two
   * seconds is dropped, with the reason. Never rejects.
   */
  close(): Promise<void>
}

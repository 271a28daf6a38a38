import type { Kernel } from '../kernel/index.ts'
import type { Frame, PushPolicy, PushRule, Trigger } from '../types/index.ts'
import type { ServerBook } from './book.ts'
import type { Limit, RateLimit } from './limit.ts'

/** What `createPipeline` takes. */
export interface PipelineOptions {
  readonly kernel: Pick<Kernel, 'hooks' | 'hasSink'>
  /** The policy for a method of a server. */
  policyFor(server: string, method: string): PushPolicy | PushRule
  /**
   * The limit that all processes share of what one of them delivers, by its source and the entry it stands in; each
   * counts for itself where this is absent or answers nothing.
   */
  sharedLimit?(
    source: string,
    entry: PushPolicy | PushRule,
    written: string,
    limit: Limit,
  ): RateLimit | undefined
  /** Nothing is delivered or claimed: what would be is said to have reached the sink `watch`. */
  readonly watchOnly?: boolean
  /** It ends: others are to know before anybody asks who else is there. */
  onEnding?(): void
  /** Whether another process hears this server for the same project: it then delivers what waits when this one ends. */
  hasCompany?(server: string): boolean
  /** Told once of each policy whose sink is not loaded. */
  onMissingSink?(policy: string, server: string): void
}

/** Turns notifications into delivered, accounted-for triggers. */
export interface Pipeline {
  /** Takes one notification. Never throws. */
  receive(server: string, frame: Pick<Frame, 'method' | 'params'>): void
  /** Takes a trigger of a source that is not an MCP server. Throws what is wrong with it. */
  admit(trigger: Trigger): void
  /** The books of a server, made when first asked for. */
  book(server: string): ServerBook
  /** Resolves when nothing is on its way; held triggers do not count. */
  idle(): Promise<void>
  /** The policies may have changed: each method's is asked for anew. */
  reroute(): void
  /**
   * Ends. What waits for its window is delivered now, unless another process will; what had no turn within two seconds
   * goes to the inbox, as one line for each policy that says how many. Takes three seconds at most and never rejects.
   */
  close(): Promise<void>
}

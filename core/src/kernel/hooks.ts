import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesWaterfallHook,
  HookMap,
  SyncWaterfallHook,
} from 'tapable'
import type {
  ConfigContext,
  ConfigState,
  ConnectRequest,
  DedupRequest,
  DedupVerdict,
  DeliverContext,
  Notice,
  Receipt,
  RegisterContext,
  ToolSpec,
  Transport,
  Trigger,
  TriggerEvent,
} from '../types/index.ts'

/** The names of the six hooks. */
export type HookName = 'config' | 'connect' | 'notify' | 'dedup' | 'deliver' | 'registerTool'

/** What every hook takes and answers: the one table to read. `undefined` always means "no opinion". */
export interface Hooks {
  /** Servers and diagnostics so far → the same, extended. Each dialect is one tap. */
  readonly config: AsyncSeriesWaterfallHook<[ConfigState, ConfigContext], ConfigState | undefined>
  /** Connect request → transport. Early taps change the request, the first transport wins. */
  readonly connect: AsyncSeriesBailHook<[ConnectRequest], Transport | undefined>
  /** Raw notification → trigger, or a named drop. Synchronous, so arrival order is kept. */
  readonly notify: SyncWaterfallHook<[Notice], Notice | undefined>
  /** Trigger and scope → first, duplicate or later. Claims are two-phase. */
  readonly dedup: AsyncSeriesBailHook<[DedupRequest], DedupVerdict | undefined>
  /** Sink name → the sink. A sink answers a receipt when it took the trigger. */
  readonly deliver: HookMap<AsyncSeriesBailHook<[Trigger, DeliverContext], Receipt | undefined>>
  /** Everyone who watches what becomes of triggers. */
  readonly observe: AsyncParallelHook<[TriggerEvent]>
  /** Tool → tool, or the same with `hidden` set. The preset taps last. */
  readonly registerTool: SyncWaterfallHook<[ToolSpec, RegisterContext], ToolSpec | undefined>
}

/** A fresh set of hooks without taps. */
export function createHooks(): Hooks {
  return {
    config: new AsyncSeriesWaterfallHook(['state', 'context'], 'config'),
    connect: new AsyncSeriesBailHook(['request'], 'connect'),
    notify: new SyncWaterfallHook(['notice'], 'notify'),
    dedup: new AsyncSeriesBailHook(['request'], 'dedup'),
    deliver: new HookMap(
      (sink) => new AsyncSeriesBailHook(['trigger', 'context'], `deliver ${sink}`),
      'deliver',
    ),
    observe: new AsyncParallelHook(['event'], 'observe'),
    registerTool: new SyncWaterfallHook(['tool', 'context'], 'registerTool'),
  }
}

/** Five places in the order of taps; within one place, registration order counts. */
export const STAGES = { early: -1000, auth: -100, normal: 0, late: 100, host: 1000 } as const

/** The name of a place in the order of taps. */
export type Stage = keyof typeof STAGES

/** Options of one tap. */
export interface TapOptions {
  /** `normal` when absent. */
  readonly stage?: Stage
  /** A failure of this tap fails what it was asked for, instead of counting as "no opinion". */
  readonly critical?: boolean
}

/** How a plugin taps a synchronous hook. */
export interface SyncTaps<A extends unknown[], R> {
  tap(options: TapOptions, fn: (...args: A) => R | undefined): void
}

/** How a plugin taps an asynchronous hook: `tapPromise`, or `tap` when there is nothing to wait for. */
export interface AsyncTaps<A extends unknown[], R> {
  tapPromise(options: TapOptions, fn: (...args: A) => Promise<R | undefined>): void
  tap(options: TapOptions, fn: (...args: A) => R | undefined): void
}

/** The hooks as a plugin sees them: it can tap, not call. */
export interface Taps {
  readonly config: AsyncTaps<[ConfigState, ConfigContext], ConfigState>
  readonly connect: AsyncTaps<[ConnectRequest], Transport>
  readonly notify: SyncTaps<[Notice], Notice>
  readonly dedup: AsyncTaps<[DedupRequest], DedupVerdict>
  readonly deliver: {
    /** Taps the sink of this name. The first receipt wins. */
    sink(name: string): AsyncTaps<[Trigger, DeliverContext], Receipt>
    /** Watches every state of every trigger. */
    observe(fn: (event: TriggerEvent) => undefined): void
  }
  readonly registerTool: SyncTaps<[ToolSpec, RegisterContext], ToolSpec>
}

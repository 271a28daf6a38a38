import { expectTypeOf, it } from 'vitest'
import type {
  ConfigState,
  HookName,
  Notice,
  Plugin,
  PluginContext,
  Receipt,
  Taps,
  ToolSpec,
  Transport,
  TriggerEvent,
} from '../../src/index.ts'

/* `tsc` is what tests here: each line under a @ts-expect-error must not compile. */

it('refuses a tap that would not be awaited', () => {
  const plugin = ({ hooks }: PluginContext): void => {
    // @ts-expect-error an async function in a synchronous hook
    hooks.notify.tap({}, async () => ({ kind: 'handled' }))
    // @ts-expect-error an async function in a synchronous hook
    hooks.registerTool.tap({}, async (tool) => tool)
    // @ts-expect-error `tap` of an asynchronous hook is for answers that are there at once
    hooks.config.tap({}, async (state) => state)
    // @ts-expect-error `tap` of an asynchronous hook is for answers that are there at once
    hooks.connect.tap({}, async () => undefined)
    // @ts-expect-error `tap` of an asynchronous hook is for answers that are there at once
    hooks.dedup.tap({}, async () => ({ verdict: 'first' }))
    // @ts-expect-error `tap` of an asynchronous hook is for answers that are there at once
    hooks.deliver.sink('x').tap({}, async () => ({ sink: 'x' }))
    // @ts-expect-error nobody waits for an observer
    hooks.deliver.observe(async () => undefined)
    // @ts-expect-error tapPromise takes what answers a promise
    hooks.deliver.sink('x').tapPromise({}, () => ({ sink: 'x' }))
  }
  expectTypeOf(plugin).returns.toBeVoid()
})

it('gives plugins taps, and nothing to call, to intercept or to tap by callback', () => {
  expectTypeOf<Taps>().toHaveProperty('notify').not.toHaveProperty('call')
  expectTypeOf<Taps['notify']>().not.toHaveProperty('tapPromise')
  expectTypeOf<Taps['registerTool']>().not.toHaveProperty('call')
  for (const method of ['call', 'callAsync', 'promise', 'tapAsync', 'intercept', 'isUsed'] as const) {
    expectTypeOf<keyof Taps['config']>().not.toEqualTypeOf<typeof method>()
  }
  expectTypeOf<keyof Taps['config']>().toEqualTypeOf<'tap' | 'tapPromise'>()
  expectTypeOf<keyof Taps['connect']>().toEqualTypeOf<'tap' | 'tapPromise'>()
  expectTypeOf<keyof Taps['dedup']>().toEqualTypeOf<'tap' | 'tapPromise'>()
  expectTypeOf<keyof ReturnType<Taps['deliver']['sink']>>().toEqualTypeOf<'tap' | 'tapPromise'>()
  expectTypeOf<keyof Taps['deliver']>().toEqualTypeOf<'sink' | 'observe'>()
})

it('has one tap for each hook', () => {
  expectTypeOf<keyof Taps>().toEqualTypeOf<HookName>()
})

it('knows what each hook takes and answers', () => {
  const plugin: Plugin = {
    name: 'typed',
    api: 1,
    setup({ hooks, host, log }, options) {
      hooks.config.tap({ stage: 'late' }, (state) => {
        expectTypeOf(state).toEqualTypeOf<ConfigState>()
        return { ...state, servers: [] }
      })
      hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
        expectTypeOf(request.headers).toEqualTypeOf<Record<string, string>>()
        return undefined as Transport | undefined
      })
      hooks.notify.tap({}, (notice) => {
        expectTypeOf(notice).toEqualTypeOf<Notice>()
        return { kind: 'drop', reason: 'boring' }
      })
      hooks.dedup.tap({}, ({ scope }) => {
        expectTypeOf(scope).toEqualTypeOf<'process' | 'project'>()
        return { verdict: 'first' }
      })
      hooks.deliver.sink('typed').tapPromise({}, async (_trigger, { signal }) => {
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        return { sink: 'typed' } satisfies Receipt
      })
      hooks.deliver.observe((event) => {
        expectTypeOf(event).toEqualTypeOf<TriggerEvent>()
        return undefined
      })
      hooks.registerTool.tap({ stage: 'host', critical: true }, (tool): ToolSpec => ({
        ...tool,
        hidden: 'not today',
      }))
      expectTypeOf(host.mode).toEqualTypeOf<'tui' | 'rpc' | 'print' | 'json' | 'headless'>()
      expectTypeOf(log.info).parameters.toEqualTypeOf<[message: string]>()
      expectTypeOf(options).toEqualTypeOf<Readonly<Record<string, unknown>>>()
      return async () => undefined
    },
  }
  expectTypeOf(plugin).toExtend<Plugin>()
})

it('refuses answers, stages and versions that do not exist', () => {
  const plugin = ({ hooks }: PluginContext): void => {
    // @ts-expect-error no such verdict
    hooks.dedup.tap({}, () => ({ verdict: 'second' }))
    // @ts-expect-error a receipt names its sink
    hooks.deliver.sink('x').tap({}, () => ({}))
    // @ts-expect-error no such stage
    hooks.notify.tap({ stage: 'first' }, () => undefined)
    // @ts-expect-error null is an answer, and not one of this hook
    hooks.notify.tap({}, () => null)
  }
  // @ts-expect-error made for another version of the interface
  const wrong: Plugin = { name: 'wrong', api: 2, setup: () => undefined }
  expectTypeOf(plugin).returns.toBeVoid()
  expectTypeOf(wrong).toExtend<Plugin>()
})

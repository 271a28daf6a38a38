import type { Hooks, TapOptions, Taps } from './hooks.ts'
import { STAGES } from './hooks.ts'

interface Tappable {
  tap(options: never, fn: never): void
  tapPromise?(options: never, fn: never): void
}

/** The hooks as the plugin of this name sees them: every tap carries its name, none can be called. */
export function tapsFor(hooks: Hooks, plugin: string, active: () => boolean): Taps {
  const view = (hook: Tappable, what: string): { tap: TapFn; tapPromise: TapFn } => {
    const add = (method: 'tap' | 'tapPromise') => (options: TapOptions, fn: unknown) => {
      if (typeof fn !== 'function')
        throw new TypeError(`${what}: the tap must be a function, got ${typeof fn}`)
      if (!active()) throw new TypeError(`${what}: plugin "${plugin}" is no longer part of this kernel`)
      const tapOptions = {
        name: plugin,
        plugin,
        stage: stageOf(options, what),
        critical: options.critical === true,
        active,
      }
      hook[method]?.(tapOptions as never, fn as never)
    }
    return { tap: add('tap'), tapPromise: add('tapPromise') }
  }
  const sync = (hook: Tappable, what: string) => ({ tap: view(hook, what).tap })
  return {
    config: view(hooks.config, 'config'),
    connect: view(hooks.connect, 'connect'),
    notify: sync(hooks.notify, 'notify'),
    dedup: view(hooks.dedup, 'dedup'),
    deliver: {
      sink: (name) => view(hooks.deliver.for(name), `deliver ${name}`),
      observe: (fn) => view(hooks.observe, 'observe').tap({}, fn),
    },
    registerTool: sync(hooks.registerTool, 'registerTool'),
  }
}

type TapFn = (options: TapOptions, fn: unknown) => void

function stageOf(options: TapOptions, what: string): number {
  const stage = options.stage ?? 'normal'
  if (!Object.hasOwn(STAGES, stage)) {
    throw new TypeError(
      `${what}: unknown stage ${JSON.stringify(stage)}; one of ${Object.keys(STAGES).join(', ')}`,
    )
  }
  return STAGES[stage]
}

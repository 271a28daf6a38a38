import type { Plugin, Taps } from '../kernel/index.ts'

type TapAll = (hooks: Taps, tap: 'tap' | 'tapPromise') => void

const throwing = (): never => {
  throw new Error('this plugin throws')
}
const hanging = (): Promise<never> => new Promise(() => undefined)

/** Throws on every hook. */
export const throwingPlugin: Plugin = {
  name: 'throwing',
  api: 1,
  setup: ({ hooks }) => onEveryHook(hooks, throwing),
}

/** Never answers on every asynchronous hook. */
export const hangingPlugin: Plugin = {
  name: 'hanging',
  api: 1,
  setup: ({ hooks }) => {
    hooks.config.tapPromise({ stage: 'early' }, hanging)
    hooks.connect.tapPromise({ stage: 'early' }, hanging)
    hooks.dedup.tapPromise({ stage: 'early' }, hanging)
    for (const sink of ['summary', 'run', 'log', 'inbox', 'rules'])
      hooks.deliver.sink(sink).tapPromise({ stage: 'early' }, hanging)
  },
}

/** Answers promises where answers are due, and says that it is a synchronous tap. */
export const lyingPlugin: Plugin = {
  name: 'lying',
  api: 1,
  setup: ({ hooks }) =>
    onEveryHook(hooks, (() => Promise.reject(new Error('this plugin lies'))) as unknown as () => never),
}

/** Throws in its own setup, after it has tapped. */
export const throwingSetup: Plugin = {
  name: 'throwing-setup',
  api: 1,
  setup: ({ hooks }) => {
    hooks.notify.tap({ stage: 'early' }, throwing)
    throw new Error('this setup throws')
  },
}

/** Made for another version of the plugin interface. */
export const wrongApiPlugin = { name: 'wrong-api', api: 99, setup: () => undefined }

/** Takes the name of a plugin that exists. */
export const duplicatePlugin = (name: string): Plugin => ({ name, api: 1, setup: () => undefined })

/** Every bad plugin there is, by what is bad about it. */
export const BAD_PLUGINS: Readonly<Record<string, unknown>> = {
  throwing: throwingPlugin,
  hanging: hangingPlugin,
  lying: lyingPlugin,
  'throwing setup': throwingSetup,
  'wrong api': wrongApiPlugin,
  'not a plugin': 42,
  nothing: undefined,
}

function onEveryHook(hooks: Taps, fn: () => never): void {
  const all: TapAll = (taps) => {
    taps.config.tap({ stage: 'early' }, fn)
    taps.connect.tap({ stage: 'early' }, fn)
    taps.notify.tap({ stage: 'early' }, fn)
    taps.dedup.tap({ stage: 'early' }, fn)
    taps.registerTool.tap({ stage: 'early' }, fn)
    taps.deliver.observe(fn)
    for (const sink of ['summary', 'run', 'log', 'inbox', 'rules'])
      taps.deliver.sink(sink).tap({ stage: 'early' }, fn)
  }
  all(hooks, 'tap')
}

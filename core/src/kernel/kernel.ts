import type { Hook } from 'tapable'
import { messageOf, TaplineError } from '../errors.ts'
import type { Host } from '../types/index.ts'
import { guardHook, type PluginTap, type Report } from './guard.ts'
import { createHooks, type HookName, type Hooks } from './hooks.ts'
import { API_VERSION, type Dispose, type Log, type Plugin } from './plugin.ts'
import { HOOK_POLICIES, type HookPolicy } from './policy.ts'
import { limitReports } from './reports.ts'
import { tapsFor } from './taps.ts'

/** What {@link createKernel} takes. */
export interface KernelOptions {
  /** In this order; of two with one name the first stays. */
  readonly plugins: readonly unknown[]
  readonly host: Host
  /** Told of every failure, at most a few times for each plugin, hook and code. */
  readonly report: Report
  readonly log?: Log
  /** Options by plugin name. */
  readonly options?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Replaces single policies, for tests. */
  readonly policies?: Partial<Record<HookName, HookPolicy>>
}

/** Hooks with plugins behind them. There is no untap: to reload, dispose this one and make another. */
export interface Kernel {
  readonly hooks: Hooks
  /** The names of the plugins that are set up, in order. */
  readonly plugins: readonly string[]
  /** Whether a sink of this name is loaded. */
  hasSink(name: string): boolean
  /** Ends every plugin, the last one first. Never throws; failures are reported. */
  dispose(): Promise<void>
}

const SETUP_DEADLINE_MS = 10_000
const SILENT: Log = { info: () => undefined, warn: () => undefined }

/** Sets up the plugins in order. A bad plugin is left out with one report; the rest run. */
export async function createKernel(options: KernelOptions): Promise<Kernel> {
  const report = limitReports(options.report)
  const hooks = createHooks()
  for (const [name, hook] of hookEntries(hooks)) {
    const policy = { ...HOOK_POLICIES[name], ...options.policies?.[name] }
    guardHook(hook as Hook<unknown[], unknown>, name, policy, report, hook !== hooks.observe)
  }
  const deliverPolicy = { ...HOOK_POLICIES.deliver, ...options.policies?.deliver }
  hooks.deliver.intercept({
    factory: (_sink, hook) => {
      guardHook(hook as unknown as Hook<unknown[], unknown>, 'deliver', deliverPolicy, report)
      return hook
    },
  })
  compileOnce()

  const running: { readonly plugin: Plugin; dispose: Dispose | undefined; active: boolean }[] = []
  const names = new Set<string>()
  for (const candidate of options.plugins) {
    const refusal = refuse(candidate, names)
    if (refusal !== undefined) {
      report(refusal)
      continue
    }
    const plugin = candidate as Plugin
    names.add(plugin.name)
    const entry = { plugin, dispose: undefined as Dispose | undefined, active: true }
    let work: ReturnType<Plugin['setup']> = undefined
    try {
      const taps = tapsFor(hooks, plugin.name, () => entry.active)
      const context = { hooks: taps, host: options.host, log: options.log ?? SILENT }
      work = plugin.setup(context, options.options?.[plugin.name] ?? {})
      const dispose = await bounded(work, plugin.name)
      if (typeof dispose === 'function') entry.dispose = dispose
      running.push(entry)
    } catch (thrown) {
      entry.active = false
      report(
        new TaplineError(
          'PLUGIN_SETUP',
          `Plugin "${plugin.name}" could not be set up: ${messageOf(thrown)}`,
          {
            plugin: plugin.name,
            cause: thrown,
          },
        ),
      )
      endLate(work)
    }
  }
  return {
    hooks,
    plugins: running.map((entry) => entry.plugin.name),
    // tapable's own isUsed counts the guard too, and taps of plugins that are gone.
    hasSink: (name) =>
      hooks.deliver.get(name)?.taps.some((tap) => (tap as PluginTap).active?.() !== false) === true,
    dispose: async () => {
      for (const entry of running.splice(0).reverse()) {
        entry.active = false
        try {
          await bounded(entry.dispose?.(), entry.plugin.name)
        } catch (thrown) {
          const plugin = entry.plugin.name
          report(
            new TaplineError(
              'PLUGIN_DISPOSE',
              `Plugin "${plugin}" did not end cleanly: ${messageOf(thrown)}`,
              { plugin, cause: thrown },
            ),
          )
        }
      }
    },
  }
}

/** A setup that answers after its deadline has opened something all the same: ends it. */
function endLate(work: ReturnType<Plugin['setup']>): void {
  Promise.resolve(work)
    .then((dispose) => dispose?.())
    .catch(() => undefined)
}

function hookEntries(hooks: Hooks): [HookName, unknown][] {
  return [
    ['config', hooks.config],
    ['connect', hooks.connect],
    ['notify', hooks.notify],
    ['dedup', hooks.dedup],
    ['deliver', hooks.observe],
    ['registerTool', hooks.registerTool],
  ]
}

/** Hooks are compiled at their first call: fail here, with a sentence, where that is forbidden. */
function compileOnce(): void {
  try {
    createHooks().notify.call({ kind: 'handled' })
  } catch (thrown) {
    throw new TaplineError(
      'CODEGEN_BLOCKED',
      'Tapline cannot start: this process forbids code generation from strings.',
      { cause: thrown },
    )
  }
}

function refuse(candidate: unknown, names: ReadonlySet<string>): TaplineError | undefined {
  const plugin = candidate as Partial<Plugin> | null | undefined
  if (
    typeof plugin !== 'object' ||
    plugin === null ||
    typeof plugin.name !== 'string' ||
    plugin.name === '' ||
    typeof plugin.setup !== 'function'
  ) {
    return new TaplineError(
      'PLUGIN_INVALID',
      `A plugin was left out: it is not { name, api, setup } (got ${describe(candidate)}).`,
    )
  }
  if (plugin.api !== API_VERSION) {
    return new TaplineError(
      'PLUGIN_API',
      `Plugin "${plugin.name}" was left out: it is made for plugin interface ${messageOf(plugin.api)}, this is ${API_VERSION}.`,
      { plugin: plugin.name },
    )
  }
  if (names.has(plugin.name)) {
    return new TaplineError('PLUGIN_DUPLICATE', `A second plugin named "${plugin.name}" was left out.`, {
      plugin: plugin.name,
    })
  }
  return undefined
}

function describe(candidate: unknown): string {
  if (typeof candidate !== 'object' || candidate === null)
    return candidate === null ? 'null' : typeof candidate
  return `an object with ${Object.keys(candidate).slice(0, 5).join(', ') || 'nothing in it'}`
}

async function bounded<T>(work: T | Promise<T>, plugin: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TaplineError('TAP_TIMEOUT', `no answer within ${SETUP_DEADLINE_MS / 1000} s.`, { plugin }))
    }, SETUP_DEADLINE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

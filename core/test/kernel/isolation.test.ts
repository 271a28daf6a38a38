import { describe, expect, it } from 'vitest'
import {
  type HookName,
  HOOK_POLICIES,
  type HookPolicy,
  type Plugin,
  TaplineError,
  type TriggerEvent,
} from '../../src/index.ts'
import { BAD_PLUGINS, testKernel } from '../../src/testing/index.ts'
import { ask, GOOD_ANSWERS, goodPlugin, show } from './asking.ts'

const HOOKS = Object.keys(HOOK_POLICIES) as HookName[]
const ASYNCHRONOUS = HOOKS.filter((hook) => HOOK_POLICIES[hook].deadlineMs !== undefined)

/** The policies of the house with deadlines that a test can wait for. */
const IMPATIENT = Object.fromEntries(
  HOOKS.map((hook) => [
    hook,
    HOOK_POLICIES[hook].deadlineMs === undefined
      ? HOOK_POLICIES[hook]
      : { ...HOOK_POLICIES[hook], deadlineMs: 20 },
  ]),
) as Record<HookName, HookPolicy>

/** What each bad plugin is reported for, at which hooks. */
const BLAME: Readonly<Record<string, { readonly code: string; readonly hooks: readonly HookName[] }>> = {
  throwing: { code: 'TAP_FAILED', hooks: HOOKS },
  hanging: { code: 'TAP_TIMEOUT', hooks: ASYNCHRONOUS },
  lying: { code: 'TAP_PROMISE', hooks: HOOKS },
}

const briefly = ({ code, place }: TaplineError): string => `${code} ${place.plugin} ${place.hook}`

it('has bad plugins for everything that is tested here', () => {
  expect(Object.keys(BAD_PLUGINS)).toEqual(expect.arrayContaining(Object.keys(BLAME)))
})

describe.each(Object.keys(BAD_PLUGINS))('beside a plugin that is bad by %s', (what) => {
  const bad = BAD_PLUGINS[what]
  const blame = BLAME[what]

  it.each(HOOKS)('a good one answers at %s', async (hook) => {
    const { kernel, reports } = await testKernel([bad, goodPlugin()], { policies: IMPATIENT })
    const before = reports.length
    const answer = await ask(kernel, hook).catch((error: unknown) => briefly(error as TaplineError))
    const blamed = blame?.hooks.includes(hook) ? `${blame.code} ${what} ${hook}` : undefined
    // A server is not reached without its credentials: at this hook a failure is the answer.
    const fails = blamed !== undefined && hook === 'connect'
    expect(answer).toEqual(fails ? blamed : GOOD_ANSWERS[hook])
    // Five sinks are one hook: three reports, the last of which says so.
    const told = blamed === undefined || fails ? 0 : hook === 'deliver' ? 3 : 1
    expect(reports.slice(before).map(briefly)).toEqual(Array.from({ length: told }, () => blamed))
  })

  it('a good observer is shown every event', async () => {
    const seen: TriggerEvent[] = []
    const { kernel } = await testKernel([bad, goodPlugin(seen)], { policies: IMPATIENT })
    await show(kernel)
    await show(kernel)
    expect(seen).toHaveLength(2)
  })
})

it('reports the same failure three times, says that this was the last, and is silent then', async () => {
  const { kernel, reports } = await testKernel([BAD_PLUGINS.throwing, goodPlugin()])
  for (let n = 0; n < 50; n++) await ask(kernel, 'notify')
  expect(reports.map(({ message }) => message)).toEqual([
    'Plugin "throwing" failed at hook "notify": this plugin throws',
    'Plugin "throwing" failed at hook "notify": this plugin throws',
    'Plugin "throwing" failed at hook "notify": this plugin throws (Further reports of this kind are not shown.)',
  ])
  await ask(kernel, 'registerTool')
  expect(reports).toHaveLength(4)
})

it('survives a reporter that throws', async () => {
  const { createKernel } = await import('../../src/index.ts')
  const { testHost } = await import('../../src/testing/index.ts')
  const kernel = await createKernel({
    plugins: [BAD_PLUGINS['not a plugin'], BAD_PLUGINS.throwing, goodPlugin()],
    host: testHost(),
    report: () => {
      throw new Error('no screen')
    },
  })
  expect(await ask(kernel, 'notify')).toEqual(GOOD_ANSWERS.notify)
})

it.each([null, false, true, 0, 'yes', () => undefined])(
  'reports the answer %o, which is none, and hands it to nobody',
  async (answer) => {
    const plugin: Plugin = {
      name: 'odd',
      api: 1,
      setup({ hooks }) {
        hooks.config.tapPromise({ stage: 'early' }, async () => answer as never)
        hooks.notify.tap({ stage: 'early' }, () => answer as never)
        hooks.dedup.tap({ stage: 'early' }, () => answer as never)
        hooks.registerTool.tap({ stage: 'early' }, () => answer as never)
        for (const sink of ['summary', 'inbox'])
          hooks.deliver.sink(sink).tap({ stage: 'early' }, () => answer as never)
      },
    }
    const { kernel, reports } = await testKernel([plugin, goodPlugin()])
    for (const hook of HOOKS) expect(await ask(kernel, hook)).toEqual(GOOD_ANSWERS[hook])
    expect(reports.map(briefly)).toEqual([
      'TAP_FAILED odd config',
      'TAP_FAILED odd notify',
      'TAP_FAILED odd dedup',
      'TAP_FAILED odd deliver',
      'TAP_FAILED odd deliver',
      'TAP_FAILED odd registerTool',
    ])
  },
)

it('lets an observer answer whatever it likes', async () => {
  const seen: unknown[] = []
  const plugin: Plugin = {
    name: 'counts',
    api: 1,
    setup: ({ hooks }) => hooks.deliver.observe(((event: TriggerEvent) => seen.push(event)) as never),
  }
  const { kernel, reports } = await testKernel(plugin)
  await show(kernel)
  expect(seen).toHaveLength(1)
  expect(reports).toEqual([])
})

describe('a critical tap', () => {
  const failing = (hook: 'config' | 'registerTool' | 'notify'): Plugin => ({
    name: 'gate',
    api: 1,
    setup({ hooks }) {
      const fail = (): never => {
        throw new Error('cannot decide')
      }
      hooks[hook].tap({ critical: true }, fail)
    },
  })

  it('fails what was asked for, and names itself', async () => {
    const config = await testKernel([failing('config'), goodPlugin()])
    await expect(ask(config.kernel, 'config')).rejects.toMatchObject({
      code: 'TAP_FAILED',
      place: { plugin: 'gate', hook: 'config' },
    })
    const tool = await testKernel([failing('registerTool'), goodPlugin()])
    await expect(ask(tool.kernel, 'registerTool')).rejects.toThrow(
      'Plugin "gate" failed at hook "registerTool": cannot decide',
    )
    expect([...config.reports, ...tool.reports]).toEqual([])
  })

  it('fails it by a promise and by silence too', async () => {
    const plugin = (answer: () => Promise<never>, sync: boolean): Plugin => ({
      name: 'gate',
      api: 1,
      setup({ hooks }) {
        if (sync) hooks.dedup.tap({ critical: true }, answer as never)
        else hooks.dedup.tapPromise({ critical: true }, answer)
      },
    })
    const lying = await testKernel(plugin(async () => Promise.reject(new Error('no')), true))
    await expect(ask(lying.kernel, 'dedup')).rejects.toMatchObject({ code: 'TAP_PROMISE' })
    const hanging = await testKernel(
      plugin(() => new Promise(() => undefined), false),
      { policies: IMPATIENT },
    )
    await expect(ask(hanging.kernel, 'dedup')).rejects.toMatchObject({ code: 'TAP_TIMEOUT' })
  })
})

describe('an error of our own class', () => {
  const throwing = (error: unknown): Plugin => ({
    name: 'vault',
    api: 1,
    setup: ({ hooks }) =>
      hooks.connect.tap({ stage: 'auth' }, () => {
        throw error
      }),
  })

  it('keeps its code, message and advice, and gains its plugin', async () => {
    const { kernel } = await testKernel(
      throwing(
        new TaplineError('AUTH_FAILED', 'Nobody is signed in.', { advice: 'Sign in.', server: 'builds' }),
      ),
    )
    await expect(ask(kernel, 'connect')).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      message: 'Nobody is signed in.',
      advice: 'Sign in.',
      place: { plugin: 'vault', hook: 'connect', server: 'builds' },
    })
  })

  it('is known when it comes from another copy of core', async () => {
    const foreign = Object.assign(new Error('Nobody is signed in.'), {
      code: 'AUTH_FAILED',
      advice: 'Sign in.',
      place: {},
      data: {},
    })
    Object.defineProperty(foreign, Symbol.for('tapline.error'), { value: true })
    const { kernel } = await testKernel(throwing(foreign))
    await expect(ask(kernel, 'connect')).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      place: { plugin: 'vault', hook: 'connect' },
    })
  })
})

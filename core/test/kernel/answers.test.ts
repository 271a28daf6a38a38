import { expect, it } from 'vitest'
import type { HookName, Plugin, Taps } from '../../src/index.ts'
import { testKernel } from '../../src/testing/index.ts'
import { serverSpec, toolSpec, trigger } from '../specs.ts'
import { ask, GOOD_ANSWERS, goodPlugin } from './asking.ts'

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic
const config = (server: object): object => ({ servers: [server], diagnostics: [], questions: [] })

/** Objects that are no answers, by hook, with what the report says. */
const WRONG: readonly (readonly [HookName, unknown, string])[] = [
  ['config', {}, '"servers"'],
  ['config', { servers: [], questions: [] }, '"diagnostics"'],
  ['config', { servers: [], diagnostics: [] }, '"questions"'],
  ['config', config({ name: 'half' }), '"enabled"'],
  ['config', config({ ...serverSpec(), name: 7 }), '"name"'],
  ['config', config({ ...serverSpec(), transport: {} }), '"transport"'],
  ['config', config({ ...serverSpec(), reconnect: { initialMs: 1 } }), '"reconnect"'],
  ['config', config({ ...serverSpec(), results: null }), '"results"'],
  ['config', config({ ...serverSpec(), push: [] }), '"push"'],
  ['config', config({ ...serverSpec(), source: 'here' }), '"source"'],
  ['config', config({ ...serverSpec(), requestTimeoutMs: '1' }), '"requestTimeoutMs"'],
  ['notify', {}, '"kind"'],
  ['notify', { kind: 'trigger' }, 'trigger'],
  ['notify', { ...trigger(), key: 7 }, 'trigger'],
  ['notify', { ...trigger(), receivedAt: Number.NaN }, 'trigger'],
  ['notify', { ...trigger(), replacement: 'always' }, 'trigger'],
  ['notify', { kind: 'drop' }, '"reason"'],
  ['dedup', {}, '"verdict"'],
  ['dedup', { verdict: 'duplicate' }, '"of"'],
  ['dedup', { verdict: 'later', until: Number.POSITIVE_INFINITY }, '"until"'],
  ['dedup', { verdict: 'first', done: 1 }, '"done"'],
  ['deliver', {}, '"sink"'],
  ['registerTool', {}, '"name"'],
  ['registerTool', { ...toolSpec(), parameters: 7 }, '"parameters"'],
  ['registerTool', { ...toolSpec(), parameters: cyclic }, 'JSON'],
  ['registerTool', { ...toolSpec(), parameters: { maximum: 1n } }, 'JSON'],
  ['registerTool', { ...toolSpec(), server: 'builds' }, '"server"'],
  ['registerTool', { ...toolSpec(), exposure: 'loud' }, '"exposure"'],
]

const liar = (hook: HookName, answer: unknown, critical = false): Plugin => ({
  name: 'liar',
  api: 1,
  setup({ hooks }) {
    const taps: Taps = hooks
    const target = hook === 'deliver' ? taps.deliver.sink('inbox') : taps[hook]
    target.tap({ stage: 'early', critical }, () => answer as never)
  },
})

it.each(WRONG)('hands nobody an answer of %s that is not whole: %o', async (hook, answer, why) => {
  const { kernel, reports } = await testKernel([liar(hook, answer), goodPlugin()])
  expect(await ask(kernel, hook)).toEqual(GOOD_ANSWERS[hook])
  expect(reports.map(({ code, place }) => [code, place.plugin, place.hook])).toEqual([
    ['TAP_FAILED', 'liar', hook],
  ])
  expect(reports[0]?.message).toContain(why)
})

it.each([{}, { start: () => undefined }])('fails a connect that is answered with %o', async (answer) => {
  const { kernel } = await testKernel([liar('connect', answer), goodPlugin()])
  await expect(ask(kernel, 'connect')).rejects.toMatchObject({
    code: 'TAP_FAILED',
    place: { plugin: 'liar', hook: 'connect' },
    message: expect.stringContaining('no transport'),
  })
})

it('fails what a critical tap was asked for', async () => {
  const { kernel } = await testKernel([liar('registerTool', {}, true), goodPlugin()])
  await expect(ask(kernel, 'registerTool')).rejects.toMatchObject({ code: 'TAP_FAILED' })
})

it('survives an answer that throws when it is looked at', async () => {
  const trap = {
    get name() {
      throw new Error('a trap')
    },
    // oxlint-disable-next-line unicorn/no-thenable -- this is the trap
    get then() {
      throw new Error('a trap')
    },
  }
  const { kernel, reports } = await testKernel([liar('registerTool', trap), goodPlugin()])
  expect(await ask(kernel, 'registerTool')).toEqual(GOOD_ANSWERS.registerTool)
  expect(reports[0]?.message).toContain('a trap')
})

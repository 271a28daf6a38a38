import { afterEach, describe, expect, it, vi } from 'vitest'
import { createKernel, type Dispose, type Plugin } from '../../src/index.ts'
import { BAD_PLUGINS, duplicatePlugin, testHost, testKernel, throwingSetup } from '../../src/testing/index.ts'
import { ask, GOOD_ANSWERS, goodPlugin, show } from './asking.ts'

afterEach(() => void vi.useRealTimers())

describe('a plugin is left out with one report', () => {
  it.each<[string, unknown, string, string]>([
    ['is a number', 42, 'PLUGIN_INVALID', 'got number'],
    ['is undefined', undefined, 'PLUGIN_INVALID', 'got undefined'],
    ['is null', null, 'PLUGIN_INVALID', 'got null'],
    [
      'is a function',
      () => ({ name: 'late', api: 1, setup: () => undefined }),
      'PLUGIN_INVALID',
      'got function',
    ],
    ['has no name', { api: 1, setup: () => undefined }, 'PLUGIN_INVALID', 'an object with api, setup'],
    ['has an empty name', { name: '', api: 1, setup: () => undefined }, 'PLUGIN_INVALID', 'an object with'],
    ['has no setup', { name: 'x', api: 1 }, 'PLUGIN_INVALID', 'an object with name, api'],
    ['is for another interface', BAD_PLUGINS['wrong api'], 'PLUGIN_API', 'plugin interface 99, this is 1'],
    ['has no interface', { name: 'x', setup: () => undefined }, 'PLUGIN_API', 'plugin interface undefined'],
    [
      'takes a name that is taken',
      duplicatePlugin('good'),
      'PLUGIN_DUPLICATE',
      'A second plugin named "good"',
    ],
    ['throws in its setup', throwingSetup, 'PLUGIN_SETUP', 'this setup throws'],
  ])('when it %s', async (_what, bad, code, words) => {
    const { kernel, reports } = await testKernel([goodPlugin(), bad])
    expect(reports).toHaveLength(1)
    expect(reports[0]).toMatchObject({ code, message: expect.stringContaining(words) })
    expect(reports[0]?.advice).not.toBe('')
    expect(kernel.plugins).toEqual(['good'])
    expect(await ask(kernel, 'notify')).toEqual(GOOD_ANSWERS.notify)
  })
})

describe('a setup that fails after it has tapped', () => {
  const half = (end: () => Promise<void> | void, called: string[]): Plugin => ({
    name: 'half',
    api: 1,
    setup({ hooks }) {
      hooks.config.tap({}, () => void called.push('config'))
      hooks.connect.tap({}, () => void called.push('connect'))
      hooks.notify.tap({}, () => void called.push('notify'))
      hooks.dedup.tap({}, () => void called.push('dedup'))
      hooks.registerTool.tap({}, () => void called.push('registerTool'))
      hooks.deliver.observe(() => void called.push('observe'))
      hooks.deliver.sink('inbox').tap({}, () => void called.push('deliver'))
      hooks.deliver.sink('half').tap({}, () => void called.push('deliver'))
      return end()
    },
  })

  it.each<[string, () => Promise<void> | void]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('leaves no tap active when it %s', async (_how, end) => {
    const called: string[] = []
    const { kernel, reports } = await testKernel([half(end, called), goodPlugin()])
    expect(reports).toMatchObject([{ code: 'PLUGIN_SETUP', place: { plugin: 'half' } }])
    for (const hook of ['config', 'connect', 'notify', 'dedup', 'deliver', 'registerTool'] as const) {
      expect(await ask(kernel, hook)).toEqual(GOOD_ANSWERS[hook])
    }
    await show(kernel)
    expect(called).toEqual([])
    expect(kernel.hasSink('half')).toBe(false)
    expect(kernel.hasSink('inbox')).toBe(true)
  })

  it('is given up after ten seconds, and ended when it answers after all', async () => {
    vi.useFakeTimers()
    const called: string[] = []
    let answer: (dispose: Dispose) => void = () => undefined
    const slow: Plugin = {
      name: 'slow',
      api: 1,
      setup: () => new Promise<Dispose>((resolve) => (answer = resolve)),
    }
    const made = testKernel([slow, goodPlugin()])
    await vi.advanceTimersByTimeAsync(10_000)
    const { kernel, reports } = await made
    expect(reports).toMatchObject([
      { code: 'PLUGIN_SETUP', message: expect.stringContaining('no answer within 10 s') },
    ])
    expect(kernel.plugins).toEqual(['good'])
    answer(() => void called.push('disposed'))
    await vi.advanceTimersByTimeAsync(0)
    expect(called).toEqual(['disposed'])
  })

  it('cannot tap any more', async () => {
    let tapLater: () => void = () => undefined
    const { kernel } = await testKernel({
      name: 'half',
      api: 1,
      setup({ hooks }) {
        tapLater = () => hooks.notify.tap({}, () => ({ kind: 'handled' }))
        throw new Error('no')
      },
    } satisfies Plugin)
    expect(tapLater).toThrow('plugin "half" is no longer part of this kernel')
    expect(await ask(kernel, 'notify')).toMatchObject({ kind: 'raw' })
  })
})

describe('dispose', () => {
  const ending = (
    name: string,
    ended: string[],
    dispose: () => Promise<void> | void = () => undefined,
  ): Plugin => ({
    name,
    api: 1,
    setup({ hooks }) {
      hooks.notify.tap({}, () => ({ kind: 'drop', reason: name }))
      hooks.deliver.sink(name).tap({}, () => ({ sink: name }))
      return () => {
        ended.push(name)
        return dispose()
      }
    },
  })

  it('ends the last plugin first, waits for each, and reports those that fail', async () => {
    const ended: string[] = []
    const { kernel, reports } = await testKernel([
      ending('a', ended),
      ending('b', ended, () => Promise.reject(new Error('still open'))),
      ending('c', ended, () => {
        throw new Error('stuck')
      }),
      ending('d', ended, async () => {
        await Promise.resolve()
        ended.push('d has ended')
      }),
    ])
    await kernel.dispose()
    expect(ended).toEqual(['d', 'd has ended', 'c', 'b', 'a'])
    expect(reports).toMatchObject([
      { code: 'PLUGIN_DISPOSE', place: { plugin: 'c' }, message: 'Plugin "c" did not end cleanly: stuck' },
      {
        code: 'PLUGIN_DISPOSE',
        place: { plugin: 'b' },
        message: 'Plugin "b" did not end cleanly: still open',
      },
    ])
    expect(await ask(kernel, 'notify')).toMatchObject({ kind: 'raw' })
    expect(kernel.hasSink('a')).toBe(false)
    await kernel.dispose()
    expect(ended).toHaveLength(5)
  })

  it('does not wait for ever', async () => {
    vi.useFakeTimers()
    const ended: string[] = []
    const { kernel, reports } = await testKernel([
      ending('a', ended),
      ending('b', ended, () => new Promise(() => undefined)),
    ])
    const disposed = kernel.dispose()
    await vi.advanceTimersByTimeAsync(10_000)
    await disposed
    expect(ended).toEqual(['b', 'a'])
    expect(reports).toMatchObject([{ code: 'PLUGIN_DISPOSE', place: { plugin: 'b' } }])
  })
})

it('starts afresh: a plugin may be part of two kernels, and of one after another', async () => {
  const plugin = goodPlugin()
  const first = await testKernel(plugin)
  const second = await testKernel(plugin)
  await first.dispose()
  expect(await ask(first.kernel, 'notify')).toMatchObject({ kind: 'raw' })
  expect(await ask(second.kernel, 'notify')).toEqual(GOOD_ANSWERS.notify)
})

it('gives a plugin the host and a log', async () => {
  const lines: string[] = []
  const host = testHost({ name: 'pi' })
  await createKernel({
    plugins: [
      {
        name: 'a',
        api: 1,
        setup: (context: { host: unknown; log: { info(line: string): void } }) => {
          expect(context.host).toBe(host)
          context.log.info('ready')
        },
      },
    ],
    host,
    report: (error) => expect.unreachable(error.message),
    log: { info: (line) => void lines.push(line), warn: () => undefined },
  })
  expect(lines).toEqual(['ready'])
})

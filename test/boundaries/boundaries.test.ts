import { describe, expect, it } from 'vitest'
import { runKernelAlone } from './kernel-alone.ts'
import {
  kernelImportsNothingElse,
  piStaysInThePresets,
  pluginsStandAlone,
  sdkStaysInTheSession,
} from './module-rules.ts'
import {
  examplesAreShort,
  filesAreSmallAndNamed,
  lockfileHoldsNoAddresses,
  packagesExplainThemselves,
} from './package-rules.ts'
import { REPOSITORY } from './sources.ts'

describe('the repository', () => {
  it.each([
    ['plugins import only types, and only from core', pluginsStandAlone],
    ['only the session knows the MCP SDK', sdkStaysInTheSession],
    ['only presets know pi', piStaysInThePresets],
    ['the kernel imports itself, tapable and the errors', kernelImportsNothingElse],
    ['files in src are small and named for what they hold', filesAreSmallAndNamed],
    ['examples are short', examplesAreShort],
    ['packages explain themselves', packagesExplainThemselves],
    ['the lockfile holds no addresses', lockfileHoldsNoAddresses],
  ])('%s', (_what, rule) => {
    expect(rule(REPOSITORY)).toEqual([])
  })

  it('has a kernel that runs without the rest of core', async () => {
    const script = `
      const plugin = { name: 'probe', api: 1, setup: ({ hooks }) => hooks.notify.tap({}, () => ({ kind: 'drop', reason: 'seen' })) }
      const made = await kernel.createKernel({ plugins: [plugin], host: {}, report: (error) => { throw error } })
      console.log(made.plugins.join(), made.hooks.notify.call({ kind: 'handled' }).reason)
      await made.dispose()`
    expect(await runKernelAlone(script)).toBe('probe seen')
  })
})

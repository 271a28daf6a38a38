import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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

/** Each rule against a small repository that breaks it, so that a green boundary means something. */
describe('a boundary rule', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'boundaries-'))
  })

  afterEach(() => {
    rmSync(root, { recursive: true, force: true })
  })

  function write(file: string, ...lines: readonly string[]): void {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), `${lines.join('\n')}\n`)
  }

  it('sees a plugin that imports values, other plugins, presets or files outside', () => {
    write(
      'plugins/bad/src/index.ts',
      "// import { createKernel } from '@tapline/core'",
      "import type { Plugin } from '@tapline/core'",
      "import { messageOf } from '@tapline/core'",
      "import { type Host } from '@tapline/core'",
      "export type { Stdio } from '@tapline/stdio'",
      "import { x } from '../../stdio/src/x.ts'",
      "export const late = () => import('@tapline/headless')",
      "export { messageOf } from '@tapline/core'",
      "type Log = import('@tapline/core').Log",
      "import './own.ts'",
      "import testing from '@tapline/core/testing'",
    )
    write('plugins/bad/src/own.ts', "import './index.ts'")
    expect(pluginsStandAlone(root)).toEqual([
      'plugins/bad/src/index.ts:3 imports a value from @tapline/core: only `import type` is allowed',
      'plugins/bad/src/index.ts:4 imports a value from @tapline/core: only `import type` is allowed',
      'plugins/bad/src/index.ts:5 imports @tapline/stdio: a plugin knows only the types of core',
      'plugins/bad/src/index.ts:6 imports ../../stdio/src/x.ts, which is outside its own package',
      'plugins/bad/src/index.ts:7 imports @tapline/headless: a plugin knows only the types of core',
      'plugins/bad/src/index.ts:8 imports a value from @tapline/core: only `import type` is allowed',
      'plugins/bad/src/index.ts:11 imports @tapline/core/testing: a plugin knows only the types of core',
    ])
  })

  it('sees the MCP SDK outside the session', () => {
    write('core/src/session/sdk.ts', "import { Client } from '@modelcontextprotocol/client'")
    write('core/src/index.ts', "export type { Tool } from '@modelcontextprotocol/client'")
    write('presets/pi/src/native.mjs', "await import('@modelcontextprotocol/client/stdio')")
    write('plugins/x/src/index.ts', '', "import { z } from '@modelcontextprotocol/sdk/types.js'")
    write('examples/ws/src/index.ts', "import '@modelcontextprotocol/sdk/client/websocket.js'")
    write('examples/other/index.ts', "import '@modelcontextprotocol/client'")
    expect(sdkStaysInTheSession(root)).toEqual([
      'core/src/index.ts:1 imports @modelcontextprotocol/client: only core/src/session may',
      'examples/other/index.ts:1 imports @modelcontextprotocol/client: only core/src/session may',
      'plugins/x/src/index.ts:2 imports @modelcontextprotocol/sdk/types.js: only core/src/session may',
      'presets/pi/src/native.mjs:1 imports @modelcontextprotocol/client/stdio: only core/src/session may',
    ])
  })

  it('sees pi outside the presets, types too', () => {
    write('core/src/a.ts', "import { VERSION } from '@earendil-works/pi-coding-agent'")
    write('plugins/x/src/index.ts', "import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'")
    write('presets/pi/src/index.ts', "import { VERSION } from '@earendil-works/pi-coding-agent'")
    expect(piStaysInThePresets(root)).toEqual([
      'core/src/a.ts:1 imports @earendil-works/pi-coding-agent: only presets know pi',
      'plugins/x/src/index.ts:1 imports @earendil-works/pi-coding-agent: only presets know pi',
    ])
  })

  it('sees a kernel that leans on the rest of core or on the machine', () => {
    write(
      'core/src/kernel/index.ts',
      "import { SyncHook } from 'tapable'",
      "import { TaplineError } from '../errors.ts'",
      "import type { Host } from '../types/index.ts'",
      "import './hooks.ts'",
      "import { text } from '../text.ts'",
      "import { readFile } from 'node:fs/promises'",
      "import type { Client } from '@modelcontextprotocol/client'",
    )
    expect(kernelImportsNothingElse(root)).toEqual([
      'core/src/kernel/index.ts:5 imports ../text.ts: the kernel stands on tapable and ../errors.ts alone',
      'core/src/kernel/index.ts:6 imports node:fs/promises: the kernel stands on tapable and ../errors.ts alone',
      'core/src/kernel/index.ts:7 imports @modelcontextprotocol/client: the kernel stands on tapable and ../errors.ts alone',
    ])
  })

  it('sees a kernel that does not run alone', async () => {
    write('core/src/errors.ts', 'export const fine = true')
    write('core/src/kernel/index.ts', "export { fine } from '../errors.ts'", "export * from 'tapable'")
    expect(await runKernelAlone('console.log(kernel.fine, typeof kernel.SyncHook)', root)).toBe(
      'true function',
    )
    write('core/src/text.ts', 'export const text = 1')
    write('core/src/kernel/index.ts', "export { text } from '../text.ts'")
    await expect(runKernelAlone('', root)).rejects.toThrow(/Cannot find module .*text\.ts/)
  })

  it('sees long files and names that say nothing', () => {
    write('core/src/long.ts', ...Array<string>(251).fill('//'))
    write('core/src/right.ts', ...Array<string>(250).fill('//'))
    write('plugins/x/src/string-utils.ts', '')
    write('presets/pi/src/Manager.ts', '')
    write('presets/pi/src/helper.mjs', '')
    write('presets/pi/src/utility-bill.ts', '')
    expect(filesAreSmallAndNamed(root)).toEqual([
      'core/src/long.ts:251 has 251 lines: at most 250',
      'plugins/x/src/string-utils.ts:1 is named for nothing in particular: say what is in it',
      'presets/pi/src/Manager.ts:1 is named for nothing in particular: say what is in it',
      'presets/pi/src/helper.mjs:1 is named for nothing in particular: say what is in it',
    ])
  })

  it('sees long examples', () => {
    write('examples/one/src/index.ts', ...Array<string>(60).fill('//'))
    write('examples/two.mjs', ...Array<string>(59).fill('//'))
    write('examples/one/node_modules/x/index.js', ...Array<string>(99).fill('//'))
    expect(examplesAreShort(root)).toEqual(['examples/one/src/index.ts:60 has 60 lines: fewer than 60'])
  })

  it('sees packages without license, README, CHANGELOG or reasons', () => {
    write('package.json', '{ "license": "MIT" }')
    write('README.md', '# Root')
    write('core/package.json', '{ "license": "ISC" }')
    write(
      'plugins/x/package.json',
      '{ "license": "MIT", "dependencies": {',
      '"ajv": "1",',
      '"@a/b": "1", "ajv-formats": "1" } }',
    )
    write('plugins/x/README.md', 'It uses `ajv-formats` and `@a/b`.')
    write('plugins/x/CHANGELOG.md', '# Changes')
    expect(packagesExplainThemselves(root)).toEqual([
      'core/package.json:1 does not say "license": "MIT"',
      'core/package.json:1 has no README.md beside it',
      'core/package.json:1 has no CHANGELOG.md beside it',
      'plugins/x/package.json:2 depends on ajv, and README.md does not say why',
    ])
  })

  it('sees addresses in the lockfile', () => {
    const link = '"node_modules/@t/x": { "resolved": "plugins/x", "link": true }'
    write(
      'package-lock.json',
      '{ "packages": {',
      `${link},`,
      '"node_modules/y": { "resolved": "https://example.test/y.tgz" } } }',
    )
    expect(lockfileHoldsNoAddresses(root)).toEqual([
      'package-lock.json:3 holds an address for node_modules/y',
    ])
  })
})

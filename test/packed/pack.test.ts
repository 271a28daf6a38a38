import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from './pack.ts'
import type { Packed } from './pack.ts'
import { REPOSITORY } from './workspaces.ts'

/** A repository of two packages that uses every convention of staging. */
const FILES: Record<string, string> = {
  'package.json': JSON.stringify({
    name: 'demo',
    private: true,
    type: 'module',
    workspaces: ['core', 'presets/*', 'examples/*'],
  }),
  LICENSE: 'MIT',
  'core/package.json': JSON.stringify({
    name: '@demo/core',
    version: '0.1.0',
    type: 'module',
    license: 'MIT',
    engines: { node: '>=22.19' },
    exports: {
      '.': './src/index.ts',
      './schema.json': './schema/demo.json',
      './package.json': './package.json',
    },
    files: ['src', 'schema', 'README.md'],
    builtWhole: { './src/whole.ts': { './part.ts': './src/lesser-part.ts' } },
    scripts: { prepack: 'exit 1' },
  }),
  'core/README.md': '# core',
  'core/schema/demo.json': '{ "title": "demo" }',
  'core/src/index.ts': `
    import schema from '../schema/demo.json' with { type: 'json' }
    import type { Name } from './name.ts'
    export type { Name } from './name.ts'
    /** The title. */
    export const title = (name: Name): string => schema.title + ' ' + name.text
    export const later = async (): Promise<number> => (await import('./later.ts')).value
    export const ellipsis = async (): Promise<string> => (await import('./whole.ts')).ELLIPSIS`,
  'core/src/whole.ts':
    "export { TomlError } from 'smol-toml'\nexport { PART } from './part.ts'\nexport const ELLIPSIS: string = '…'",
  'core/src/part.ts': "export const PART: string = 'the whole part'",
  'core/src/lesser-part.ts': "export const PART: string = 'the lesser part'",
  'core/src/name.ts': 'export interface Name { readonly text: string }',
  'core/src/later.ts': 'export const value: number = 7',
  'presets/app/package.json': JSON.stringify({
    name: '@demo/app',
    version: '0.1.0',
    type: 'module',
    license: 'MIT',
    engines: { node: '>=22.19' },
    bin: { demo: './bin/demo.mjs' },
    pi: { extensions: ['./src/index.ts'] },
    exports: { '.': './src/index.ts', './package.json': './package.json' },
    files: ['bin', 'src'],
    dependencies: { '@demo/core': '^0.1.0' },
  }),
  'presets/app/bin/demo.mjs':
    "#!/usr/bin/env node\nimport { main } from '../src/cli/main.ts'\nawait main()\n",
  'presets/app/src/cli/main.ts': `
    import { readFileSync } from 'node:fs'
    import { ellipsis, later, title } from '@demo/core'
    export const main = async (): Promise<void> => {
      const text = readFileSync(new URL('../greeting.txt', import.meta.url), 'utf8')
      console.log(text.trim(), title({ text: 'app' }), await later(), await ellipsis())
    }`,
  'presets/app/src/greeting.txt': 'hello',
  'presets/app/src/index.ts': `
    import { word } from './thin.ts'
    import type { Heavy } from './heavy.ts'
    export default async (): Promise<string> => word + String(((await import('./native.mjs')) as Heavy).size)`,
  'presets/app/src/thin.ts': "export const word = 'thin '",
  'presets/app/src/heavy.ts':
    'export interface Heavy { readonly size: number }\nexport const size: number = 9',
  'presets/app/src/native.mjs': "export * from './heavy.ts'\n",
  'presets/app/src/native.d.mts': "export * from './heavy.ts'\n",
  'examples/sink/package.json': JSON.stringify({
    name: 'demo-sink',
    version: '0.1.0',
    type: 'module',
    license: 'MIT',
    pi: { extensions: ['./src/index.ts'] },
    files: ['src'],
  }),
  'examples/sink/src/index.ts': 'export default (): void => {}',
}

describe('packing', () => {
  let root: string
  let packed: Packed[]

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'packing-'))
    for (const [file, text] of Object.entries(FILES)) write(file, text)
    copyFileSync(join(REPOSITORY, 'tsconfig.json'), join(root, 'tsconfig.json'))
    symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'), 'junction')
    packed = await pack(root)
  })

  afterAll(() => {
    rmSync(root, { recursive: true, force: true })
  })

  const read = (file: string): string => readFileSync(join(root, '.tapline/stage', file), 'utf8')

  it('finds nothing wrong with good packages', () => {
    expect(packed.map(({ name, problems }) => [name, problems])).toEqual([
      ['@demo/app', []],
      ['@demo/core', []],
      ['demo-sink', []],
    ])
  })

  it('points the manifest at dist, and leaves the extension of pi as TypeScript', () => {
    expect(JSON.parse(read('core/package.json'))).toMatchObject({
      types: './dist/index.d.ts',
      exports: {
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './schema.json': './schema/demo.json',
      },
      files: ['dist', 'schema', 'README.md'],
    })
    for (const field of ['scripts', 'builtWhole'])
      expect(JSON.parse(read('core/package.json'))).not.toHaveProperty(field)
    expect(JSON.parse(read('app/package.json'))).toMatchObject({
      pi: { extensions: ['./src/index.ts'] },
      bin: { demo: './bin/demo.mjs' },
      files: ['dist', 'src', 'bin'],
    })
  })

  it('ships of the source only what the loader of pi needs, with scripts turned to dist', () => {
    expect(listed('app')).toEqual([
      'LICENSE',
      'bin/demo.mjs',
      'dist/cli/main.d.ts',
      'dist/cli/main.js',
      'dist/greeting.txt',
      'dist/heavy.d.ts',
      'dist/heavy.js',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/native.js',
      'dist/thin.js',
      'package.json',
      'src/index.ts',
      'src/native.mjs',
      'src/thin.ts',
    ])
    expect(read('app/src/native.mjs')).toBe("export * from '../dist/heavy.js'\n")
    expect(listed('demo-sink')).toEqual(['LICENSE', 'package.json', 'src/index.ts'])
  })

  it('builds what is to be whole with what it uses of what it imports', () => {
    const whole = read('core/dist/whole.js')
    expect(whole).toContain('Redistributions of source code must retain')
    expect(read('core/dist/whole.LICENSES.txt')).toMatch(/^smol-toml \d[^]+Redistribution and use/)
    const code = whole.replaceAll(/\/\*[^]*?\*\//g, '')
    expect(code).not.toMatch(/\b(?:import|from)\b/)
    expect(code).toMatch(/class TomlError\b/)
    expect(code).toContain('the lesser part')
    expect(code).not.toContain('the whole part')
    expect(code).not.toMatch(/Date|[^\0-\xff]/)
  })

  it('makes tarballs that run where Node strips no types', () => {
    for (const { name, tarball } of packed) {
      const folder = join(root, 'installed/node_modules', name)
      mkdirSync(folder, { recursive: true })
      execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
    }
    const bin = join(root, 'installed/node_modules/@demo/app/bin/demo.mjs')
    expect(execFileSync(process.execPath, [bin], { encoding: 'utf8' })).toBe('hello demo app 7 …\n')
  })

  it('takes from the last run what has not changed', async () => {
    const again = await pack(root)
    expect(again.map(({ cached }) => cached)).toEqual([true, true, true])
    write('core/src/later.ts', 'export const value: number = 8')
    const [app, core, sink] = await pack(root)
    expect([app!.cached, core!.cached, sink!.cached]).toEqual([false, false, true])
  })

  it('reports what a consumer would trip over', async () => {
    write('core/package.json', FILES['core/package.json']!.replace('"schema",', ''))
    write(
      'core/src/later.ts',
      "export const worker = new URL('./name.ts', import.meta.url)\nexport const value: number = 8",
    )
    const [core] = await pack(root, ['@demo/core'])
    expect(core!.problems).toEqual([
      expect.stringContaining('schema/demo.json'),
      expect.stringMatching(/^dist\/later-[\w-]+\.js names \.\/name\.ts, which is TypeScript$/),
    ])
  })

  it('refuses a file of a library that finds others by a place that it does not keep', async () => {
    write('core/src/deep/place.ts', "export const place = new URL('../name.ts', import.meta.url)")
    const [core] = await pack(root, ['@demo/core'])
    expect(core!.problems).toEqual([expect.stringMatching(/^src\/deep\/place\.ts .*: name it by a package$/)])
  })

  function listed(id: string): string[] {
    const { tarball } = packed.find(({ stage }) => stage.endsWith(`/${id}`))!
    const lines = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    return lines.map((line) => line.replace('package/', '')).toSorted()
  }
})

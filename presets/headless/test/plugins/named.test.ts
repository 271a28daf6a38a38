import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startChild } from '../child.ts'
import { createPlace } from '../place.ts'
import type { Place } from '../place.ts'

interface Loaded {
  readonly plugins: readonly { readonly name: string }[]
  readonly problems: readonly string[]
}

/** Loads the plugins as they are loaded outside tests: by Node itself. */
async function load({ paths }: Place, ...names: readonly string[]): Promise<Loaded> {
  const from = join(paths.cwd, '.pi', 'tapline.toml')
  return JSON.parse(await startChild('load-plugins.ts', paths.agentDir, from, ...names).output)
}

function install(place: Place, folder: string, name: string, source: string, manifest: object = {}): void {
  const own = { name, version: '1.0.0', type: 'module', exports: './index.js', ...manifest }
  place.write(`${folder}/node_modules/${name}/package.json`, own)
  place.write(`${folder}/node_modules/${name}/index.js`, source)
}

const plugin = (name: string): string => `{ name: '${name}', api: 1, setup() {} }`

describe('plugins that a settings file names', () => {
  it('are packages beside the file, then those that pi has installed', async () => {
    const place = createPlace()
    install(place, 'project', 'near', `export default ${plugin('near')}`)
    install(place, 'agent/npm', 'near', `export default ${plugin('far')}`)
    install(place, 'agent/npm', '@scope/far', `export default ${plugin('far')}`)
    const loaded = await load(place, 'near', '@scope/far')
    expect(loaded).toEqual({
      plugins: [
        { name: 'near', api: 1 },
        { name: 'far', api: 1 },
      ],
      problems: [],
    })
  })

  it('may offer themselves to import alone, as packages of ESM do', async () => {
    const place = createPlace()
    const exports = { '.': { types: './index.d.ts', import: './index.js' } }
    install(place, 'agent/npm', 'modern', `export default ${plugin('modern')}`, { exports })
    expect(await load(place, 'modern')).toMatchObject({ plugins: [{ name: 'modern' }], problems: [] })
  })

  it('are files, relative to the settings file, in JavaScript and TypeScript', async () => {
    const place = createPlace()
    place.write('project/.pi/one.mjs', `export default ${plugin('one')}`)
    place.write('project/two.ts', `const two: object = ${plugin('two')}\nexport default two`)
    const absolute = place.write('three.mjs', `export const three = ${plugin('three')}`)
    const loaded = await load(place, './one.mjs', '../two.ts', absolute)
    expect(loaded.problems).toEqual([])
    expect(loaded.plugins.map(({ name }) => name)).toEqual(['one', 'two', 'three'])
  })

  it('are exported as they are, or made by a function without options', async () => {
    const place = createPlace()
    place.write(
      'project/.pi/made.mjs',
      `export default (name = 'made') => (${plugin('x')}, { name, api: 1, setup() {} })`,
    )
    place.write('project/.pi/only.mjs', `export const only = () => (${plugin('only')})`)
    // An extension of pi that hands its plugin in is loaded here without pi.
    place.write(
      'project/.pi/both.mjs',
      `export const sink = ${plugin('sink')}\nexport default (pi) => pi.events.on('x')`,
    )
    const loaded = await load(place, './made.mjs', './only.mjs', './both.mjs')
    expect(loaded.problems).toEqual([])
    expect(loaded.plugins.map(({ name }) => name)).toEqual(['made', 'only', 'sink'])
  })

  it('cost a sentence each when they cannot be used, and the others are', async () => {
    const place = createPlace()
    install(place, 'agent/npm', 'broken', 'throw new Error("out of order")')
    place.write('project/.pi/none.mjs', 'export const answer = 42')
    place.write('project/.pi/throwing.mjs', 'export default () => { throw new Error("no factory") }')
    place.write('project/.pi/syntax.mjs', 'export default {')
    place.write('project/.pi/good.mjs', `export default ${plugin('good')}`)
    const from = join(place.paths.cwd, '.pi', 'tapline.toml')
    const names = ['missing', './missing.mjs', 'broken', './none.mjs', './throwing.mjs', './syntax.mjs']
    const { plugins, problems } = await load(place, ...names, './good.mjs')
    expect(plugins).toEqual([{ name: 'good', api: 1 }])
    expect(problems).toHaveLength(names.length)
    names.forEach((name, index) => {
      expect(problems[index]).toContain(`plugin "${name}" of ${from} could not be loaded: `)
      expect(problems[index]).toMatch(/[^.]\. Put that right, or take it out of "plugins"\.$/)
    })
    expect(problems[0]).toContain(`installed neither beside ${join(place.paths.cwd, '.pi')} nor in`)
    expect(problems[1]).toContain(`${join(place.paths.cwd, '.pi', 'missing.mjs')} does not exist`)
    expect(problems[2]).toContain('out of order')
    expect(problems[3]).toContain('exports no plugin')
    expect(problems[4]).toContain('no factory')
  })

  it('are loaded without a word on standard error', async () => {
    const place = createPlace()
    place.write(
      'project/.pi/plain.ts',
      `const name: string = 'plain'\nexport default { name, api: 1, setup() {} }`,
    )
    const child = startChild(
      'load-plugins.ts',
      place.paths.agentDir,
      join(place.paths.cwd, '.pi', 'x'),
      './plain.ts',
    )
    await child.output
    expect(child.stderr).toBe('')
  })
})

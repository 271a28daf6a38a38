import { existsSync, readFileSync, rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBuiltInSilenced, setBuiltInSilenced } from '../../src/state/pi-settings.ts'
import { createPlace } from '../place.ts'

/** Silences, takes that back, and answers the text after each step. */
async function thereAndBack(text: string): Promise<[silenced: string, restored: string]> {
  const place = createPlace()
  const { agentDir } = place.paths
  place.write('agent/settings.json', text)
  expect(await setBuiltInSilenced(agentDir, true)).toBe(true)
  expect(isBuiltInSilenced(agentDir)).toBe(true)
  expect(await setBuiltInSilenced(agentDir, true)).toBe(false)
  const silenced = place.read('agent/settings.json')
  expect(await setBuiltInSilenced(agentDir, false)).toBe(true)
  expect(isBuiltInSilenced(agentDir)).toBe(false)
  expect(await setBuiltInSilenced(agentDir, false)).toBe(false)
  return [silenced, place.read('agent/settings.json')]
}

describe('the entry in the settings of pi', () => {
  it('is added beside others, and taken back to the very bytes', async () => {
    const text = '{\n  "theme": "dark",\n  "extensions": [\n    "./a.ts"\n  ],\n  "packages": []\n}\n'
    expect(await thereAndBack(text)).toEqual([
      '{\n  "theme": "dark",\n  "extensions": [\n    "./a.ts",\n    "-builtin:mcp"\n  ],\n  "packages": []\n}\n',
      text,
    ])
  })

  it('leaves comments, tabs, line ends and a byte order mark alone', async () => {
    const text =
      '\uFEFF{\r\n\t// mine\r\n\t"theme": "dark", /* why not */\r\n\t"extensions": [\r\n\t\t"./a.ts" // first\r\n\t]\r\n}\r\n'
    const [silenced, restored] = await thereAndBack(text)
    expect(silenced).toBe(text.replace('"./a.ts" // first', '"./a.ts", // first\r\n\t\t"-builtin:mcp"'))
    expect(restored).toBe(text)
  })

  it.each([
    '{"extensions":["a"],"z":1}',
    '{ "z":1 }',
    '{\n\t"extensions": [ "a",   "b" ], // both\n\t"z": 1\n}',
    '{\n  "z": 1, // one, and a comma too many\n  // two\n}\n',
    '{\n  "extensions": [\n    "a", // one, and a comma too many\n    /* two */\n  ]\n}\n',
  ])('is written as the rest of %j, and gone without a trace', async (text) => {
    const [, restored] = await thereAndBack(text)
    expect(restored).toBe(text.replace(', // one', ' // one'))
  })

  it('keeps entries that are not its own, of any kind, where they are', async () => {
    const text = '{ "extensions": ["-builtin:mcp", { "path": "x" }, "-builtin:mcp", "-builtin:codemode"] }'
    const place = createPlace()
    place.write('agent/settings.json', text)
    expect(await setBuiltInSilenced(place.paths.agentDir, false)).toBe(true)
    expect(JSON.parse(place.read('agent/settings.json'))).toEqual({
      extensions: [{ path: 'x' }, '-builtin:codemode'],
    })
  })

  it('comes and goes where there is nothing else', async () => {
    for (const text of ['', ' \n', '{}', '{ "extensions": [] }', '{}\n']) {
      const [silenced, restored] = await thereAndBack(text)
      expect(JSON.parse(silenced)).toEqual({ extensions: ['-builtin:mcp'] })
      expect(JSON.parse(restored)).toEqual({})
    }
    const place = createPlace()
    expect(await setBuiltInSilenced(place.paths.agentDir, true)).toBe(true)
    expect(JSON.parse(place.read('agent/settings.json'))).toEqual({ extensions: ['-builtin:mcp'] })
  })

  it('changes nothing else in whatever pi has written', async () => {
    // As JSON has it: -0 is written as 0.
    const value = fc.jsonValue({ maxDepth: 2 }).map((json) => JSON.parse(JSON.stringify(json)) as unknown)
    const settings = fc.record({
      before: fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,8}$/), value, { maxKeys: 4 }),
      extensions: fc.option(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { nil: undefined }),
      after: fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,8}$/), value, { maxKeys: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(settings, async ({ before, extensions, after }) => {
        fc.pre(!('extensions' in before) && !('extensions' in after))
        const content = { ...before, ...(extensions ? { extensions } : {}), ...after }
        fc.pre(Object.keys(content).length > 0)
        const text = `${JSON.stringify(content, undefined, 2)}\n`
        const [silenced, restored] = await thereAndBack(text)
        expect(JSON.parse(silenced)).toEqual({
          ...content,
          extensions: [...(extensions ?? []), '-builtin:mcp'],
        })
        expect(restored).toBe(text)
      }),
      { numRuns: 40 },
    )
  })

  it.each(['{ "theme": ', '[]', '"text"', 'null'])('is not written over %s', async (text) => {
    const place = createPlace()
    const path = place.write('agent/settings.json', text)
    const { agentDir } = place.paths
    await expect(setBuiltInSilenced(agentDir, true)).rejects.toThrow('fix it first')
    expect(() => isBuiltInSilenced(agentDir)).toThrow('fix it first')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('is not there where pi has never run', async () => {
    const place = createPlace()
    rmSync(place.paths.agentDir, { recursive: true })
    expect(isBuiltInSilenced(place.paths.agentDir)).toBe(false)
    expect(await setBuiltInSilenced(place.paths.agentDir, false)).toBe(false)
    expect(existsSync(place.paths.agentDir)).toBe(false)
  })
})

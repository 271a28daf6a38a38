import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../src/settings/files.ts'
import type { SettingsRead } from '../../src/settings/files.ts'
import { startChild } from '../child.ts'
import { createPlace } from '../place.ts'
import type { Place } from '../place.ts'

/** Reads, with this answer to every question of trust. */
function readIn({ paths }: Place, answer?: boolean): Promise<SettingsRead> {
  return readSettings(paths, { answer: () => answer })
}

function problems({ settings }: SettingsRead): string[] {
  return settings.diagnostics.map(({ severity, message }) => `${severity}: ${message}`)
}

const SAME: Readonly<Record<string, string>> = {
  'tapline.toml': `naming = "mcp"
plugins = ["a-plugin"]
disable = ["keychain"]
elicitation = false
[results]
max_bytes = 1024
[push."*"]
default = "summary"
[options.stdio]
maxFrameBytes = 1000`,
  'tapline.json': `{ "naming": "mcp", "plugins": ["a-plugin"], "disable": ["keychain"],
  "elicitation": false, "results": { "max_bytes": 1024 },
  "push": { "*": { "default": "summary" } }, "options": { "stdio": { "maxFrameBytes": 1000 } } }`,
  'tapline.yaml': `naming: mcp
plugins: [a-plugin]
disable: [keychain]
elicitation: false
results: { max_bytes: 1024 }
push: { "*": { default: summary } }
options: { stdio: { maxFrameBytes: 1000 } }`,
}

describe('settings files', () => {
  it.each([...Object.entries(SAME), ['tapline.yml', SAME['tapline.yaml']!]])(
    'are read from %s',
    async (name, text) => {
      const place = createPlace()
      for (const bom of ['', '\uFEFF']) {
        const path = place.write(`agent/${name}`, bom + text)
        const { settings, questions } = await readIn(place)
        expect(settings).toEqual({
          naming: 'mcp',
          plugins: [{ name: 'a-plugin', from: path }],
          disable: new Set(['keychain']),
          results: { max_bytes: 1024 },
          push: { '*': { default: 'summary' } },
          options: { stdio: { maxFrameBytes: 1000 } },
          elicitation: { '*': false },
          diagnostics: [],
        })
        expect(questions).toEqual([])
      }
    },
  )

  it('are read from TypeScript as it is now, without a word on standard error', async () => {
    const place = createPlace()
    const file = (naming: string): string => `const naming: string = '${naming}'\nexport default { naming }\n`
    place.write('agent/tapline.ts', file('mcp'))
    const { agentDir, cwd } = place.paths
    const child = startChild('read-settings.ts', agentDir, cwd, file('server'))
    expect(JSON.parse(await child.output)).toEqual([
      { naming: 'mcp', problems: [] },
      { naming: 'server', problems: [] },
    ])
    expect(child.stderr).toBe('')
  })

  it('say nothing when they are empty or absent', async () => {
    const place = createPlace()
    expect(problems(await readIn(place))).toEqual([])
    for (const name of ['tapline.toml', 'tapline.json', 'tapline.yaml']) {
      place.write(`agent/${name}`, name === 'tapline.toml' ? '# nothing' : '')
      const read = await readIn(place)
      expect([read.settings.push, problems(read).filter((text) => !text.includes('comes first'))]).toEqual([
        {},
        [],
      ])
    }
  })

  it('are one: of several the first counts, and the others are named', async () => {
    const place = createPlace()
    const [toml, json] = ['tapline.toml', 'tapline.json'].map((name) =>
      place.write(`agent/${name}`, SAME[name]),
    )
    const read = await readIn(place)
    expect(problems(read)).toEqual([`warning: ${json} is ignored: ${toml} is there and comes first.`])
    expect(read.settings.plugins).toEqual([{ name: 'a-plugin', from: toml }])
  })

  it.each([
    ['tapline.toml', 'naming = "mcp"\nsecret = sk-1234\n', 2],
    ['tapline.json', '{\n  // mine\n  "naming": "mcp"\n}', 2],
    ['tapline.json', '{ "secret": sk-1234 }', 1],
    ['tapline.json', '{ "naming": "mcp", }', 1],
    ['tapline.yaml', 'a: 1\nsecret: "sk-1234\n', 3],
    ['tapline.yaml', 'a: [sk-1234\nb: 1', 2],
  ])('are named with the line, and quoted nowhere, when %s is broken: %j', async (name, text, line) => {
    const place = createPlace()
    const path = place.write(`agent/${name}`, text)
    const read = await readIn(place)
    expect(problems(read)).toEqual([
      expect.stringMatching(new RegExp(`^error: settings file ${path}:${line} is ignored: \\S.*[^.]\\.$`)),
    ])
    expect(read.settings.diagnostics[0]).toMatchObject({ path, line })
    expect(problems(read).join()).not.toContain('1234')
  })

  it('are a sentence when a directory stands in the place', async () => {
    const place = createPlace()
    const path = join(place.paths.agentDir, 'tapline.toml')
    mkdirSync(path)
    expect(problems(await readIn(place))).toEqual([
      `error: settings file ${path} is ignored: it is a directory.`,
    ])
  })

  it('are ignored whole when a value is wrong', async () => {
    const place = createPlace()
    for (const [content, reason] of [
      [
        { naming: 'mpc', apply: 'now' },
        'naming must be equal to one of the allowed values (mcp, original, server)',
      ],
      [{ push: { hub: { default: 5 } } }, 'push.hub.default must be string or object'],
      [{ push: { hub: 'run' } }, 'push.hub must be object'],
      [{ plugins: 'one' }, 'plugins must be array'],
      [{ results: { max_bytes: 1 } }, 'results.max_bytes must be >= 256'],
      [[], 'the file must be object'],
    ] as const) {
      const path = place.write('agent/tapline.json', content)
      const read = await readIn(place)
      expect(problems(read)).toEqual([`error: settings file ${path} is ignored: ${reason}.`])
      expect(read.settings).toMatchObject({ plugins: [], push: {}, options: {} })
    }
  })

  it('are used without the keys that nobody knows, with what was probably meant', async () => {
    const place = createPlace()
    const content = {
      namign: 'mcp',
      pussh: {},
      results: { max_byte: 1, max_bytes: 512 },
      apply: 'now',
      unheard: 1,
    }
    const path = place.write('agent/tapline.json', content)
    const read = await readIn(place)
    expect(problems(read).toSorted()).toEqual([
      `warning: ${path}: unknown key "namign" is ignored. Did you mean "naming"?`,
      `warning: ${path}: unknown key "pussh" is ignored. Did you mean "push"?`,
      `warning: ${path}: unknown key "results.max_byte" is ignored. Did you mean "results.max_bytes"?`,
      `warning: ${path}: unknown key "unheard" is ignored.`,
    ])
    expect(read.settings).toMatchObject({ apply: 'now', results: { max_bytes: 512 } })
    expect(read.settings).not.toHaveProperty('naming')
  })
})

describe('settings of a project', () => {
  it('are not used, nor code of theirs run, before somebody said yes', async () => {
    const place = createPlace()
    const mark = join(place.root, 'ran')
    const text = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${mark}', '')\nexport default { naming: 'mcp' }`
    const path = place.write('project/.pi/tapline.ts', text)
    for (const [answer, why] of [
      [undefined, 'nobody was asked yet'],
      [false, 'you said no'],
    ] as const) {
      const read = await readIn(place, answer)
      expect(problems(read)).toEqual([
        `warning: project settings ignored at ${path}: the file is not trusted (${why}).`,
      ])
      expect(read.questions).toEqual(
        answer === undefined
          ? [
              {
                path,
                directory: place.paths.cwd,
                content: text,
                facts: [
                  `runs the code in ${path}`,
                  'what it imports is not checked again, nor are the plugins that it names',
                ],
              },
            ]
          : [],
      )
    }
    const { existsSync } = await import('node:fs')
    expect(existsSync(mark)).toBe(false)
  })

  it('are shown in the question', async () => {
    const place = createPlace()
    place.write('project/.pi/tapline.toml', '# hello\n\nplugins = ["evil"]\n')
    const { questions } = await readIn(place)
    expect(questions.map(({ facts }) => facts)).toEqual([
      ['runs the plugin package "evil"; the code of a package is not checked again'],
    ])
  })

  it('are asked about with the content that is then used', async () => {
    const place = createPlace()
    const text = 'naming = "server"\n'
    const path = place.write('project/.pi/tapline.toml', text)
    const asked: unknown[][] = []
    const { settings } = await readSettings(place.paths, {
      answer: (...question) => {
        asked.push(question)
        // What was not shown is not used.
        place.write('project/.pi/tapline.toml', 'naming = "mcp"\n')
        return true
      },
    })
    expect(asked).toEqual([[path, place.paths.cwd, text]])
    expect(settings).toMatchObject({ naming: 'server', diagnostics: [] })
  })

  it('are those of the user where the agent directory is the project', async () => {
    const place = createPlace()
    const paths = { ...place.paths, agentDir: join(place.paths.cwd, '.pi') }
    place.write('project/.pi/tapline.toml', 'naming = "mcp"\n')
    const { settings, questions } = await readSettings(paths, { answer: () => undefined })
    expect([settings.naming, settings.diagnostics, questions]).toEqual(['mcp', [], []])
  })
})

it('leaves the object of a TypeScript file as it is, also where it may not be changed', async () => {
  const place = createPlace()
  const frozen =
    'const freeze = (value: object): object => Object.freeze(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, typeof inner === "object" && !Array.isArray(inner) ? freeze(inner) : inner])))'
  place.write(
    'agent/tapline.ts',
    `${frozen}\nexport default freeze({ stray: 1, results: { max_bytes: 1024, stray: 2 }, push: { hub: { default: { policy: 'run', stray: 3 }, subscribe: ['a'] } } })`,
  )
  const read = await readIn(place)
  expect(problems(read).map((problem) => problem.replace(place.root, ''))).toEqual(
    ['stray', 'results.stray', 'push.hub.default.stray'].map(
      (key) => `warning: /agent/tapline.ts: unknown key "${key}" is ignored.`,
    ),
  )
  expect(read.settings.push).toEqual({ hub: { default: { policy: 'run' }, subscribe: ['a'] } })
})

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../src/settings/files.ts'
import { trustStore } from '../../src/state/trust.ts'
import { startChild } from '../child.ts'
import { createPlace } from '../place.ts'

const PLUGIN = `export default { name: 'evil', api: 1, setup() {} }`

async function ask(place: ReturnType<typeof createPlace>) {
  const { questions, settings } = await readSettings(place.paths, { answer: () => undefined })
  return { questions, problems: settings.diagnostics.map(({ message }) => message) }
}

describe('the question about settings of a project', () => {
  it('shows everything, also what twenty lines of padding would push out of sight', async () => {
    const place = createPlace()
    place.write('project/.pi/evil.mjs', PLUGIN)
    place.write(
      'project/.pi/tapline.toml',
      `disable = ["keychain"]${'\n'.repeat(50)}plugins = [${' '.repeat(300)}"pkg",
"./evil.mjs", "./\\u001b[2Kgone.mjs"]
naming = "server"
apply = "now"
results = { max_bytes = 512 }
elicitation = { hub = false, "*" = true }
[options.stdio]
command = "a\\u202Eb"
nested = { deep = [1, true] }
[push."*"]
default = "run"
[push.hub]
"a/*" = { policy = "log", limit = "6/hour", windows = "owner" }
subscribe = ["db://*"]
channel = true`,
    )
    const [question] = (await ask(place)).questions
    expect(question?.facts).toEqual([
      'runs the plugin package "pkg"; the code of a package is not checked again',
      `runs the plugin file "./evil.mjs" (${join(place.paths.cwd, '.pi', 'evil.mjs')}); what it imports is not checked again`,
      'names the plugin file "./\\u001b[2Kgone.mjs", which cannot be read now',
      'leaves out the plugin "keychain"',
      'pushes of every server (all others): "run", shown in the chat and each starts one turn',
      'pushes of "hub" ("a/*"): "log", at most "6/hour", in windows: "owner"',
      'subscribes at "hub" to: "db://*"',
      'lets "hub" ask to be a channel: what it sends would start turns with its own words',
      'option of the plugin "stdio": "command" = "a\\u{202e}b"',
      'option of the plugin "stdio": "nested" = {"deep":[1,true]}',
      'does not let "hub" ask you questions',
      'lets every server ask you questions',
      'names tools: "server"',
      'applies changed tool lists: "now"',
      'results: "max_bytes" = 512',
    ])
  })

  it('says what is left out for its length, and how much', async () => {
    const place = createPlace()
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`n${index}`, 'log']))
    place.write('project/.pi/tapline.json', { push: { hub: many }, plugins: ['x'.repeat(5000)] })
    const facts = (await ask(place)).questions[0]?.facts ?? []
    expect(facts[0]).toMatch(/… \(\d{4} more characters, not shown: read the file\)$/)
    expect(facts.at(-1)).toBe('… and 51 more settings, not shown: read the file')
  })

  it('is bounded where YAML holds itself', async () => {
    const place = createPlace()
    place.write('project/.pi/tapline.yaml', 'options: { stdio: { a: &a [ *a ] } }')
    expect((await ask(place)).questions[0]?.facts[0]).toContain('not shown: read the file')
  })

  it('is not asked about a file that does not parse', async () => {
    const place = createPlace()
    const path = place.write('project/.pi/tapline.toml', 'plugins = [')
    const { questions, problems } = await ask(place)
    expect(questions).toEqual([])
    expect(problems).toEqual([expect.stringContaining(`settings file ${path}:1 is ignored: `)])
  })
})

describe('the yes', () => {
  it('is tied to the plugin files that the settings name', async () => {
    const place = createPlace()
    place.write('project/.pi/evil.mjs', PLUGIN)
    place.write('project/.pi/tapline.toml', 'plugins = ["./evil.mjs"]')
    const trust = trustStore(place.paths.agentDir)
    const [question] = (await readSettings(place.paths, trust)).questions
    await trust.save(question!, true)
    const { settings, questions } = await readSettings(place.paths, trust)
    expect([settings.plugins.length, settings.diagnostics, questions]).toEqual([1, [], []])

    place.write('project/.pi/evil.mjs', `${PLUGIN}\nprocess.exit(1)`)
    const changed = await readSettings(place.paths, trust)
    expect([changed.settings.plugins, changed.questions.length]).toEqual([[], 1])
  })

  it('runs a plugin file only as it was approved', async () => {
    const place = createPlace()
    place.write('project/.pi/good.ts', PLUGIN)
    place.write('project/.pi/evil.mjs', PLUGIN)
    place.write('project/.pi/tapline.toml', 'plugins = ["./good.ts", "./evil.mjs", "./late.mjs"]')
    const { agentDir, cwd } = place.paths
    const child = startChild(
      'approved.ts',
      agentDir,
      cwd,
      join(cwd, '.pi', 'evil.mjs'),
      join(cwd, '.pi', 'late.mjs'),
    )
    const loaded = JSON.parse(await child.output) as { plugins: unknown[]; problems: string[] }
    expect(loaded.plugins).toHaveLength(1)
    expect(loaded.problems).toEqual([
      expect.stringContaining('evil.mjs is not what was approved'),
      expect.stringContaining('late.mjs is not what was approved'),
    ])
  })

  it('runs a tapline.ts only as it was approved', async () => {
    const place = createPlace()
    const path = place.write(
      'project/.pi/tapline.ts',
      `const naming: string = 'mcp'\nexport default { naming }`,
    )
    const { settings } = await readSettings(place.paths, {
      answer: () => {
        place.write('project/.pi/tapline.ts', `export default { naming: 'server' }`)
        return true
      },
    })
    expect(settings.naming).toBeUndefined()
    expect(settings.diagnostics.map(({ message }) => message)).toEqual([
      `settings file ${path} is ignored: ${path} is not what was approved.`,
    ])
  })
})

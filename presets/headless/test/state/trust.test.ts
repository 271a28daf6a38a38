import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { trustStore } from '../../src/state/trust.ts'
import { createPlace } from '../place.ts'
import type { Place } from '../place.ts'

const CONTENT = '[[server]]\nname = "hub"\n'

function asked({ paths }: Place, content = CONTENT) {
  return { path: join(paths.cwd, '.pi', 'mcp.toml'), directory: paths.cwd, content }
}

describe('the trust store', () => {
  it('knows nothing of what nobody was asked about', () => {
    const place = createPlace()
    const { path, directory } = asked(place)
    expect(trustStore(place.paths.agentDir).answer(path, directory, CONTENT)).toBeUndefined()
    expect(readdirSync(place.paths.agentDir)).toEqual([])
  })

  it.each([true, false])('ties the answer %s to the content, the file and the directory', async (yes) => {
    const place = createPlace()
    const { path, directory } = asked(place)
    await trustStore(place.paths.agentDir).save(asked(place), yes)

    const store = trustStore(place.paths.agentDir)
    expect(store.answer(path, directory, CONTENT)).toBe(yes)
    expect(store.answer(path, directory, `${CONTENT}\n`)).toBeUndefined()
    expect(store.answer(join(directory, '.pi', 'tapline.toml'), directory, CONTENT)).toBeUndefined()
    const elsewhere = join(place.root, 'elsewhere')
    expect(store.answer(join(elsewhere, '.pi', 'mcp.toml'), elsewhere, CONTENT)).toBeUndefined()
    expect(readFileSync(store.path, 'utf8')).not.toContain('hub')
  })

  it('has only the last answer, and other files keep theirs', async () => {
    const place = createPlace()
    const store = trustStore(place.paths.agentDir)
    const settings = { ...asked(place, 'x'), path: join(place.paths.cwd, '.pi', 'tapline.toml') }
    await store.save(settings, true)
    await store.save(asked(place), true)
    await store.save(asked(place, 'changed'), false)
    const { path, directory } = asked(place)
    expect(store.answer(path, directory, CONTENT)).toBeUndefined()
    expect(store.answer(path, directory, 'changed')).toBe(false)
    expect(store.answer(settings.path, directory, 'x')).toBe(true)
  })

  it('knows a directory by every path that leads to it', async () => {
    const place = createPlace()
    const link = join(place.root, 'link')
    symlinkSync(place.paths.cwd, link)
    const store = trustStore(place.paths.agentDir)
    await store.save(asked(place), true)
    expect(store.answer(join(link, '.pi', 'mcp.toml'), link, CONTENT)).toBe(true)
  })

  it('sees what another process was told meanwhile', async () => {
    const place = createPlace()
    const [here, there] = [trustStore(place.paths.agentDir), trustStore(place.paths.agentDir)]
    const { path, directory } = asked(place)
    expect(here.answer(path, directory, CONTENT)).toBeUndefined()
    await there.save(asked(place), true)
    expect(here.answer(path, directory, CONTENT)).toBe(true)
  })

  it('loses none of two answers at once', async () => {
    const place = createPlace()
    const files = ['a', 'b', 'c', 'd'].map((name) => ({
      ...asked(place, name),
      path: join(place.paths.cwd, '.pi', name),
    }))
    await Promise.all(files.map((file) => trustStore(place.paths.agentDir).save(file, true)))
    const store = trustStore(place.paths.agentDir)
    const answers = files.map(({ path, directory, content }) => store.answer(path, directory, content))
    expect(answers).toEqual([true, true, true, true])
  })

  it.each([true, false])('is overruled by the command line (%s), which saves nothing', async (overall) => {
    const place = createPlace()
    const { path, directory } = asked(place)
    await trustStore(place.paths.agentDir).save(asked(place), !overall)
    const before = place.read('agent/tapline/trust.json')
    expect(trustStore(place.paths.agentDir, overall).answer(path, directory, CONTENT)).toBe(overall)
    expect(trustStore(place.paths.agentDir, overall).answer(path, directory, 'changed')).toBe(overall)
    expect(place.read('agent/tapline/trust.json')).toBe(before)
  })

  it('trusts nothing on the word of a broken file, and keeps it aside', async () => {
    const place = createPlace()
    const broken = `{ "version": 1, "directories": { "${place.paths.cwd}": `
    const file = place.write('agent/tapline/trust.json', broken)
    const told: string[][] = []
    const store = trustStore(place.paths.agentDir, undefined, (...said) => told.push(said))
    const { path, directory } = asked(place)
    expect(store.answer(path, directory, CONTENT)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toBe(broken)
    expect(told).toEqual([])

    await store.save(asked(place), true)
    expect(store.answer(path, directory, CONTENT)).toBe(true)
    expect(told).toEqual([[file, expect.stringContaining('.unreadable-')]])
    expect(readFileSync(told[0]![1]!, 'utf8')).toBe(broken)
  })

  it('does not believe entries of another shape', () => {
    const place = createPlace()
    const { path, directory } = asked(place)
    for (const entry of [true, { answer: true }, { sha256: '', answer: true }, null]) {
      const directories = { [directory]: { [join('.pi', 'mcp.toml')]: entry } }
      place.write('agent/tapline/trust.json', { version: 1, directories })
      expect(trustStore(place.paths.agentDir).answer(path, directory, CONTENT)).toBeUndefined()
    }
    writeFileSync(join(place.paths.agentDir, 'tapline', 'trust.json'), '{ "directories": null }')
    expect(trustStore(place.paths.agentDir).answer(path, directory, CONTENT)).toBeUndefined()
  })

  it('is no reason not to start when it cannot be read', async () => {
    const place = createPlace()
    const { path, directory } = asked(place)
    mkdirSync(join(place.paths.agentDir, 'tapline', 'trust.json'), { recursive: true })
    const store = trustStore(place.paths.agentDir)
    expect(store.answer(path, directory, CONTENT)).toBeUndefined()
    await expect(store.save(asked(place), true)).rejects.toThrow('EISDIR')
  })
})

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ExtensionContext, ModelRegistry } from '@earendil-works/pi-coding-agent'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runningCopy } from '../../src/session/agents/running-copy.ts'

const script = process.argv[1] as string
/** A session whose registry of models is of this class. */
const sessionOf = (kind: { prototype: object }): ExtensionContext =>
  ({ modelRegistry: Object.create(kind.prototype) }) as ExtensionContext

describe('the modules of the pi that runs', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'running-copy-'))
  })
  afterEach(() => {
    process.argv[1] = script
    rmSync(root, { recursive: true, force: true })
  })

  /** A program whose script is started by a link, as npm's are. */
  function program(manifest: object, index: string): void {
    mkdirSync(join(root, 'dist'))
    writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', ...manifest }))
    writeFileSync(join(root, 'dist', 'cli.js'), '')
    writeFileSync(join(root, 'dist', 'index.js'), index)
    symlinkSync(join(root, 'dist', 'cli.js'), join(root, 'pi'))
    process.argv[1] = join(root, 'pi')
  }

  it('are those beside its script', async () => {
    program({ piConfig: {} }, 'export class ModelRegistry {}\nexport const here = true')
    const copy = await import(join(root, 'dist', 'index.js'))
    expect(await runningCopy(sessionOf(copy.ModelRegistry))?.load()).toMatchObject({ here: true })
  })

  it('are those that a program has installed, whose own files are left alone', async () => {
    program({ name: 'somebody-elses' }, 'globalThis.intruded = true')
    const sdk = await runningCopy(sessionOf(ModelRegistry))?.load()
    expect(sdk?.ModelRegistry).toBe(ModelRegistry)
    expect(globalThis).not.toHaveProperty('intruded')
  })

  it('are not those of another version that has taken their place', async () => {
    program({ piConfig: {} }, 'export class ModelRegistry {}')
    await expect(runningCopy(sessionOf(Map))?.load()).rejects.toThrow(
      /no longer at .*dist.index\.js: if pi was updated meanwhile, start it again$/,
    )
  })
})

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { saveOutput } from '../src/index.ts'

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'tools-output-'))))
afterEach(() => rmSync(root, { recursive: true, force: true }))

const mode = (path: string) => statSync(path).mode & 0o777

describe('temporary files', () => {
  it('are private, in one private directory for each process', async () => {
    const save = saveOutput('temporary-file', { home: root, temporary: root })
    const [text, bytes] = await Promise.all([save('whole', '.txt'), save(new Uint8Array([1, 2]), '.pdf')])
    expect(readFileSync(text, 'utf8')).toBe('whole')
    expect([...readFileSync(bytes)]).toEqual([1, 2])
    expect([mode(text), mode(bytes), mode(dirname(text))]).toEqual([0o600, 0o600, 0o700])
    expect(dirname(bytes)).toBe(dirname(text))
    expect(bytes).toMatch(/\.pdf$/)
  })

  it('outlive the removal of their directory', async () => {
    const save = saveOutput('temporary-file', { home: root, temporary: root })
    rmSync(dirname(await save('one', '.txt')), { recursive: true })
    expect(readFileSync(await save('two', '.txt'), 'utf8')).toBe('two')
  })

  it('reject where nothing can be written', async () => {
    await expect(
      saveOutput('temporary-file', { home: root, temporary: join(root, 'nowhere') })('x', '.txt'),
    ).rejects.toThrow('ENOENT')
  })
})

describe('artifacts', () => {
  const artifact = () => saveOutput('artifact', { home: root })
  const directory = () => join(root, '.unipi', 'tool-results')

  it('are private, in UniPi’s directory', async () => {
    const path = await artifact()('whole', '.txt')
    expect(dirname(path)).toBe(directory())
    expect([readFileSync(path, 'utf8'), mode(path), mode(directory())]).toEqual(['whole', 0o600, 0o700])
  })

  it('tighten a directory that others could read', async () => {
    mkdirSync(directory(), { recursive: true })
    chmodSync(directory(), 0o755)
    await artifact()('x', '.txt')
    expect(mode(directory())).toBe(0o700)
  })

  it('are not written through a link', async () => {
    mkdirSync(dirname(directory()))
    mkdirSync(join(root, 'elsewhere'))
    symlinkSync(join(root, 'elsewhere'), directory())
    await expect(artifact()('x', '.txt')).rejects.toThrow('is not a directory, so it was not kept')
  })

  it('are at most 16 MiB', async () => {
    await expect(artifact()('x'.repeat(16 * 1024 * 1024 + 1), '.txt')).rejects.toThrow('larger than 16 MiB')
    await expect(artifact()('é'.repeat(8 * 1024 * 1024 + 1), '.txt')).rejects.toThrow('larger than 16 MiB')
  })
})

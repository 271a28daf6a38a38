import { execFile } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { files, jsonFile, withLock, writeAtomically } from '@tapline/core'
import type { JsonFile } from '@tapline/core'
import { startChild } from '../child.ts'
import { createPlace } from '../place.ts'

interface Counter {
  readonly count: number
}

const accepts = (content: unknown): content is Counter =>
  typeof (content as { count?: unknown } | null)?.count === 'number'

function counter(path: string, onSetAside?: (path: string, keptAs: string) => void): JsonFile<Counter> {
  return jsonFile({ path, empty: () => ({ count: 0 }), accepts, ...(onSetAside ? { onSetAside } : {}) })
}

describe('a JSON file', () => {
  it('is empty until it is written, and makes its directory', async () => {
    const { root } = createPlace()
    const file = counter(join(root, 'new', 'state.json'))
    expect(file.read()).toEqual({ count: 0 })
    expect(existsSync(file.path)).toBe(false)
    expect(await file.update(({ count }) => ({ count: count + 2 }))).toEqual({ count: 2 })
    expect(readFileSync(file.path, 'utf8')).toBe('{\n  "count": 2\n}\n')
    expect(readdirSync(dirname(file.path))).toEqual(['state.json'])
  })

  it('stays as it was when the change throws', async () => {
    const { root, write } = createPlace()
    const file = counter(write('state.json', { count: 3 }))
    const failing = file.update(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await file.update(({ count }) => ({ count }))).toEqual({ count: 3 })
    expect(readdirSync(root).filter((name) => name.startsWith('state.json'))).toEqual(['state.json'])
  })

  it('says that it cannot be read, instead of being empty', async () => {
    const { root } = createPlace()
    const file = counter(join(root, 'state.json'))
    mkdirSync(file.path)
    expect(() => file.read()).toThrow('EISDIR')
    await expect(file.update((content) => content)).rejects.toThrow('EISDIR')
  })

  it('keeps under another name whatever it cannot use', async () => {
    const torn = fc
      .tuple(fc.json(), fc.nat())
      .map(([text, cut]) => Buffer.from(text.slice(0, cut % (text.length + 1))))
    const content = fc.oneof(
      torn,
      fc.json().map((text) => Buffer.from(text)),
      fc.nat().map((count) => Buffer.from(JSON.stringify({ count }))),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        const { root, write } = createPlace()
        const kept: string[] = []
        const file = counter(write('state.json', bytes), (_path, keptAs) => kept.push(keptAs))
        const before = usable(bytes)
        expect(file.read()).toEqual(before ?? { count: 0 })
        // Reading changes nothing.
        expect(readFileSync(file.path)).toEqual(bytes)

        await file.update(({ count }) => ({ count: count + 1 }))
        expect(file.read()).toEqual({ count: (before?.count ?? 0) + 1 })
        const others = readdirSync(root).filter((name) => name.startsWith('state.json.'))
        expect(others.map((name) => join(root, name))).toEqual(kept)
        expect(kept.map((path) => readFileSync(path))).toEqual(before ? [] : [bytes])
      }),
      { numRuns: 60 },
    )
  })

  it('loses no change of several processes, and is never seen half written', async () => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    const writers = [startChild('count.ts', path, '25'), startChild('count.ts', path, '25')]
    const still = new Set(writers)
    const ended = Promise.all(writers.map((writer) => writer.output.finally(() => still.delete(writer))))
    const seen = new Set<number>()
    while (still.size > 0) {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '{ "count": 0, "filling": "" }'
      const { count, filling } = JSON.parse(text) as { count: number; filling: string }
      expect(filling).toBe(count === 0 ? '' : String(count).repeat(5_000))
      seen.add(count)
      await turn()
    }
    await ended
    expect(counter(path).read()).toMatchObject({ count: 50 })
    expect(seen.size).toBeGreaterThan(1)
  })

  it('is free again after the process that held its lock was killed', async () => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    const holder = startChild('hold.ts', path)
    await holder.printed('locked')
    await holder.kill()
    expect(existsSync(`${path}.lock`)).toBe(true)
    const past = new Date(Date.now() - 15_000)
    utimesSync(`${path}.lock`, past, past)
    expect(await counter(path).update(({ count }) => ({ count: count + 1 }))).toEqual({ count: 1 })
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it.each([
    [
      'a directory with something in it, as pi-loops leaves it',
      (lock: string) => {
        mkdirSync(lock)
        writeFileSync(join(lock, 'owner'), '4711.abc')
      },
    ],
    ['a file', (lock: string) => writeFileSync(lock, '')],
    ['a link that leads nowhere', (lock: string) => symlinkSync('/nowhere/at/all', lock)],
  ])('is free again after a stale lock that is %s, at once', async (_what, leave) => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    leave(`${path}.lock`)
    const past = new Date(Date.now() - 15_000)
    lutimesSync(`${path}.lock`, past, past)
    const others = Array.from({ length: 5 }, () =>
      counter(path).update(({ count }) => ({ count: count + 1 })),
    )
    await Promise.all(others)
    expect(counter(path).read()).toEqual({ count: 5 })
    expect(readdirSync(root).filter((name) => name.startsWith('state.json'))).toEqual(['state.json'])
  })

  it('is free again after a lock that the dead have left in the future, and counts as left when nobody refreshes it', async () => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    const began = performance.now()
    mkdirSync(`${path}.lock`)
    const future = new Date(Date.now() + 86_400_000)
    utimesSync(`${path}.lock`, future, future)
    const others = Array.from({ length: 3 }, () =>
      counter(path).update(({ count }) => ({ count: count + 1 })),
    )
    await Promise.all(others)
    expect(counter(path).read()).toEqual({ count: 3 })
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(readdirSync(root).filter((name) => name.startsWith('state.json'))).toEqual(['state.json'])
  })

  it('lets one process in at a time after a stale lock, however many wait for it', async () => {
    const { root } = createPlace()
    const rounds = 60
    const children = Array.from({ length: 5 }, () => startChild('contend.ts', root, String(rounds)))
    const past = new Date(Date.now() - 15_000)
    for (let n = 0; n < rounds; n++) {
      await Promise.all(children.map((child) => child.printed(`at ${n}`)))
      mkdirSync(join(root, `${n}.lock`))
      utimesSync(join(root, `${n}.lock`), past, past)
      writeFileSync(join(root, `${n}`), '')
    }
    for (const child of children) expect(await child.output).not.toContain('not alone')
    expect(readdirSync(root).filter((name) => name.includes('.lock'))).toEqual([])
  })

  it('does not give back a lock that was taken from it', async () => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    const lock = `${path}.lock`
    await withLock(path, () => {
      // Another process has found it stale, and has it now.
      rmSync(lock, { recursive: true })
      mkdirSync(lock)
    })
    expect(existsSync(lock)).toBe(true)
    rmSync(lock, { recursive: true })
    expect(await counter(path).update(({ count }) => ({ count: count + 1 }))).toEqual({ count: 1 })
    expect(existsSync(lock)).toBe(false)
  })

  it('does not take the lock of a process that lives', async () => {
    const { root } = createPlace()
    const path = join(root, 'state.json')
    const holder = startChild('hold.ts', path)
    await holder.printed('locked')
    let entered = false
    const waiting = withLock(path, () => (entered = true))
    const other = join(root, 'other.json')
    // A lock elsewhere is taken meanwhile, so it is not that nothing happens.
    await withLock(other, () => undefined)
    expect(entered).toBe(false)
    await holder.kill()
    const past = new Date(Date.now() - 15_000)
    utimesSync(`${path}.lock`, past, past)
    await waiting
    expect(entered).toBe(true)
  })
})

describe('an atomic write', () => {
  it('keeps permissions, and writes through a symbolic link', () => {
    const { root, write } = createPlace()
    const target = write('dotfiles/settings.json', 'old')
    writeFileSync(target, 'old', { mode: 0o640 })
    const before = statSync(target).mode
    const link = join(root, 'settings.json')
    symlinkSync(target, link)
    writeAtomically(link, 'new')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).toBe('new')
    expect(statSync(target).mode).toBe(before)
  })

  it('is private where there was no file', () => {
    const { root } = createPlace()
    const path = join(root, 'fresh.json')
    writeAtomically(path, 'text')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('leaves nothing behind when it fails', () => {
    const { root } = createPlace()
    const path = join(root, 'taken')
    mkdirSync(path)
    expect(() => writeAtomically(path, 'text')).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/)
    expect(readdirSync(root).filter((name) => name.startsWith('taken'))).toEqual(['taken'])
  })
})

describe('an appended line', () => {
  it('ends a torn one first, and is private where there was no file', async () => {
    const { root, write } = createPlace()
    const path = write('log.jsonl', '{"a":1}\n{"torn')
    files.append(path, '{"b":2}')
    files.append(path, '{"c":3}')
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"torn\n{"b":2}\n{"c":3}\n')
    const fresh = join(root, 'new', 'log.jsonl')
    files.append(fresh, 'x')
    expect(readFileSync(fresh, 'utf8')).toBe('x\n')
    expect(statSync(fresh).mode & 0o777).toBe(0o600)
  })

  it('is not taken for written on a full disk', async () => {
    const { root } = createPlace()
    // A limit on the size of files cuts a write short as a full disk does.
    const script = `import { files } from '@tapline/core'; try { files.append(${JSON.stringify(join(root, 'log.jsonl'))}, 'x'.repeat(20_000)); console.log('written') } catch ({ code }) { console.log(code) }`
    const limited = 'ulimit -f 8; exec "$0" --input-type=module -e "$1"'
    const { stdout } = await promisify(execFile)('/bin/bash', ['-c', limited, process.execPath, script], {
      cwd: import.meta.dirname,
    })
    expect(stdout.trim()).toMatch(/^(EFBIG|ENOSPC)$/)
  })
})

function usable(bytes: Buffer): Counter | undefined {
  try {
    const content: unknown = JSON.parse(bytes.toString('utf8'))
    return accepts(content) ? content : undefined
  } catch {
    return undefined
  }
}

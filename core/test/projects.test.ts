import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createProjects } from '../src/index.ts'

/** A directory of its own, by its real path. */
function createRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'projects-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** Names that are easily taken for something else. */
const name = fc.constantFrom('a', 'b', '..a', '...', 'a b', '-a', 'ä', 'A')
const below = fc.array(name, { maxLength: 4 })

describe('directories', () => {
  it('are one project when they are the same or one is in the other, whatever they are called', () => {
    const root = createRoot()
    const { holds, same } = createProjects(join(root, 'nobody'))
    fc.assert(
      fc.property(below, below, (first, second) => {
        const [a, b] = [join(root, 'p', ...first), join(root, 'p', ...second)]
        const isBelow = first.length <= second.length && first.every((part, at) => part === second[at])
        const isAbove = second.length <= first.length && second.every((part, at) => part === first[at])
        expect(holds(a, b)).toBe(isBelow)
        expect(same(a, b)).toBe(isBelow || isAbove)
        expect(same(b, a)).toBe(same(a, b))
        // Whether they are there or not.
        mkdirSync(a, { recursive: true })
        const later = createProjects(join(root, 'nobody'))
        expect(later.same(a, b)).toBe(isBelow || isAbove)
      }),
      { numRuns: 200 },
    )
  })

  it('are looked at through links, also those that are gone', () => {
    const root = createRoot()
    mkdirSync(join(root, 'p', 'inner'), { recursive: true })
    symlinkSync(join(root, 'p'), join(root, 'link'))
    symlinkSync(join(root, 'link', 'inner'), join(root, 'second'))
    symlinkSync(join(root, 'circle'), join(root, 'circle'))
    const { real, holds, same } = createProjects(root)
    expect(real(join(root, 'second'))).toBe(join(root, 'p', 'inner'))
    expect(real(join(root, 'circle', 'x'))).toBe(join(root, 'circle', 'x'))
    fc.assert(
      fc.property(below, fc.boolean(), (parts, isSecond) => {
        const [link, target] = isSecond
          ? [join(root, 'second'), join(root, 'p', 'inner')]
          : [join(root, 'link'), join(root, 'p')]
        expect(real(join(link, ...parts))).toBe(join(target, ...parts))
        expect(same(link, join(target, ...parts))).toBe(true)
        expect(holds(join(link, ...parts), join(root, 'p'))).toBe(!isSecond && parts.length === 0)
      }),
    )
  })

  it('that are the home directory or the root hold nothing but themselves', () => {
    const root = createRoot()
    const home = join(root, 'home')
    mkdirSync(join(home, 'work'), { recursive: true })
    symlinkSync(home, join(root, 'link'))
    for (const said of [home, join(root, 'link'), `${home}${sep}`]) {
      const { holds, same } = createProjects(said)
      for (const at of [home, join(root, 'link'), '/', `${home}/work/..`]) {
        expect(same(at, join(home, 'work'))).toBe(false)
        expect(same(at, at)).toBe(true)
      }
      expect(holds('/', home)).toBe(false)
      expect(holds(root, home)).toBe(true)
      expect(same(home, join(root, 'link'))).toBe(true)
      expect(same(join(home, 'work'), join(home, 'work', 'deeper'))).toBe(true)
    }
  })
})

describe('what another program wrote as a directory', () => {
  const path = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => `/${text}`),
    fc.array(fc.constantFrom('..', '.', '', 'tmp', 'x'), { maxLength: 8 }).map((parts) => parts.join('/')),
    fc.nat(3_000).map((depth) => '/x'.repeat(depth)),
    fc.nat(9_000).map((length) => `/tmp/${'x'.repeat(length)}`),
  )

  it('is never an error, and one notion holds for all of it', () => {
    const { real, holds, same } = createProjects('/home/somebody')
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(real(real(a))).toBe(real(a))
        expect(same(a, a)).toBe(true)
        expect(same(a, b)).toBe(same(b, a))
        expect(same(a, b)).toBe(holds(a, b) || holds(b, a))
        expect(holds(a, b) && holds(b, a)).toBe(real(a) === real(b))
        const [outer, inner] = [real(a), real(b)]
        const isBelow = isAbsolute(a) && isAbsolute(b) && relative(outer, inner).split(sep)[0] !== '..'
        expect(holds(a, b)).toBe(outer === inner || (isBelow && dirname(outer) !== outer))
      }),
      { numRuns: 500 },
    )
  })
})

it('costs little for many that are few', () => {
  const root = createRoot()
  const { same } = createProjects(root)
  const directories = Array.from({ length: 20 }, (_, at) => join(root, `p${at}`, 'deep', 'down'))
  for (const directory of directories.slice(10)) mkdirSync(directory, { recursive: true })
  const at = performance.now()
  for (let n = 0; n < 100_000; n++) same(directories[n % 20] as string, directories[19] as string)
  // Each of them looked at anew would take several seconds.
  expect(performance.now() - at).toBeLessThan(1_000)
})

it('notices when a link leads elsewhere', async () => {
  const root = createRoot()
  for (const at of ['one', 'other']) mkdirSync(join(root, at))
  symlinkSync(join(root, 'one'), join(root, 'link'))
  const { same } = createProjects(root)
  expect(same(join(root, 'link'), join(root, 'one'))).toBe(true)
  rmSync(join(root, 'link'))
  symlinkSync(join(root, 'other'), join(root, 'link'))
  const end = Date.now() + 10_000
  while (same(join(root, 'link'), join(root, 'one')) && Date.now() < end) await sleep(5)
  expect(same(join(root, 'link'), join(root, 'other'))).toBe(true)
})

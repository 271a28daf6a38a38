import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { loadGradually } from '../src/loading.ts'

const directory = mkdtempSync(join(tmpdir(), 'tapline-loading-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const loaded: string[] = []
;(globalThis as { loadedModules?: string[] }).loadedModules = loaded

/** Writes modules that note when they are evaluated; answers the address of one. */
function modules(files: Readonly<Record<string, string>>, entry: string): URL {
  for (const [name, source] of Object.entries(files))
    writeFileSync(join(directory, name), `${source}\nglobalThis.loadedModules.push('${name}')\n`)
  return pathToFileURL(join(directory, entry))
}

it('loads what a module needs before it, in pieces', async () => {
  const leaves = Array.from({ length: 40 }, (_, n) => `leaf-${n}.mjs`)
  const imports = (names: readonly string[]) => names.map((name) => `import './${name}'`).join('\n')
  const files: Record<string, string> = Object.fromEntries(
    leaves.map((name, n) => [name, `import './leaf-${(n * 7) % 40}.mjs'\nexport const n = ${n}`]),
  )
  files['middle.mjs'] =
    `${imports(leaves.slice(0, 20))}\nexport {\n  n,\n} from './leaf-3.mjs'\nexport * from './leaf-4.mjs'`
  files['whole.mjs'] =
    `${imports(leaves)}\nimport { setImmediate } from 'node:timers/promises'\nimport './middle.mjs'\nvoid setImmediate`
  const entry = modules(files, 'whole.mjs')
  let turns = 0
  const turning = setInterval(() => (turns += 1), 0)
  await loadGradually(entry)
  clearInterval(turning)
  expect(loaded).toHaveLength(42)
  expect(loaded.slice(-2)).toEqual(['middle.mjs', 'whole.mjs'])
  expect(turns).toBeGreaterThan(0)
  await import(entry.href)
  expect(loaded).toHaveLength(42)
})

it('leaves what is wrong to the import that follows', async () => {
  const missing = modules(
    { 'missing.mjs': "import './nowhere.mjs'\nimport '@tapline/nowhere'" },
    'missing.mjs',
  )
  await expect(loadGradually(missing)).resolves.toBeUndefined()
  await expect(import(missing.href)).rejects.toThrow('nowhere')
  const broken = modules({ 'broken.mjs': 'throw new Error("on purpose")' }, 'broken.mjs')
  await expect(loadGradually(broken)).resolves.toBeUndefined()
  await expect(loadGradually(new URL('none.mjs', broken))).resolves.toBeUndefined()
})

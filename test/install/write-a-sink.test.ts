import { execFile } from 'node:child_process'
import { chmodSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { preparePi } from '../drivers/pi-process.ts'
import { waitUntil } from '../drivers/processes.ts'
import { startRegistry } from '../drivers/registry.ts'
import type { Registry } from '../drivers/registry.ts'
import { pack } from '../packed/pack.ts'
import { REPOSITORY } from '../packed/workspaces.ts'
import { createHome } from './installation.ts'
import type { Home } from './installation.ts'

const PAGE = path.join(REPOSITORY, 'presets/pi/docs/write-a-sink.md')

/** One block of the page: a file, with its name, or lines to be typed. */
interface Block {
  readonly language: string
  readonly file: string | undefined
  readonly text: string
}

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n([^]*?)^```$/gm)].map(
    ([, file, language = '', text = '']) => ({ language, file, text }),
  )
}

let registry: Registry
let home: Home

beforeAll(async () => {
  const packed = await pack()
  registry = await startRegistry(packed.map(({ tarball }) => tarball))
  home = await createHome(registry)
  await home.install('npm:@tapline/pi')
})
afterAll(async () => {
  await home?.[Symbol.asyncDispose]()
  await registry?.close()
})

it('is a page whose files and commands work as they stand there', async () => {
  const { scratch } = home
  const prepared = preparePi({ scratch, env: { ...registry.env, PI_OFFLINE: undefined } })
  const quoted = prepared.command.map((word) => `'${word}'`).join(' ')
  const shim = scratch.write('bin/pi', `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(shim, 0o755)
  const env = { ...prepared.env, PATH: `${path.dirname(shim)}${path.delimiter}${prepared.env.PATH}` }
  const journal = path.join(scratch.root, 'journal')
  const place = path.join(scratch.root, 'place')
  let folder = scratch.project
  const said: Record<string, string> = {}
  const typed: string[] = []
  for (const { language, file, text } of blocksOf(readFileSync(PAGE, 'utf8'))) {
    if (file !== undefined) writeFileSync(path.join(folder, file), text)
    else if (language === 'toml')
      scratch.write('agent/tapline.toml', text.replaceAll('/tmp/journal', journal))
    else if (language === 'text') typed.push(...text.trim().split('\n'))
    else {
      const script = `{ ${text.trim()}\n} 2>&1; pwd >'${place}'`
      const { stdout } = await promisify(execFile)('bash', ['-ec', script], { cwd: folder, env })
      said[text.trim()] = stdout
      folder = readFileSync(place, 'utf8').trim()
    }
  }
  expect(path.basename(folder)).toBe('tapline-journal')
  expect(said['npm test']).toMatch(/pass 2\n[^]*fail 0/)
  expect(said['pi install .']).toContain('Installed')
  expect(said['npm pack --dry-run']).toMatch(/index\.ts\n[^]*package\.json\n[^]*total files: +2/)

  const pi = await home.start()
  for (const line of typed) expect((await pi.command(line)).join()).toContain('the sink "journal"')
  const lines = (): string =>
    existsSync(journal)
      ? globSync(`${journal}/*.md`)
          .map((file) => readFileSync(file, 'utf8'))
          .join('')
      : ''
  await waitUntil(() => lines() !== '', 20_000, 'a line of the journal')
  expect(lines()).toMatch(/^- \d\d:\d\d cron: my sink works\n$/)
  await waitUntil(async () =>
    (await pi.command('/triggers sources')).join().includes('received=1 = delivered=1 +'),
  )
  expect(pi.notices().filter((notice) => /plugin "?journal|needs attention/i.test(notice))).toEqual([])
  expect(home.model.requests()).toEqual([])
  await pi.close()

  // The types of the page are those of the package.
  const compiler = path.join(REPOSITORY, 'node_modules/typescript/bin/tsc')
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--allowImportingTsExtensions',
  ]
  const types = [
    '--types',
    'node',
    '--typeRoots',
    path.join(REPOSITORY, 'node_modules/@types'),
    '--skipLibCheck',
  ]
  const checked = promisify(execFile)(
    process.execPath,
    [compiler, ...flags, ...types, 'index.ts', 'index.test.ts'],
    { cwd: folder },
  )
  await expect(checked).resolves.toMatchObject({ stdout: '' })
})

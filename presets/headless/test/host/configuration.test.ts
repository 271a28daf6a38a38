import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTapline } from '../../src/host/tapline.ts'
import { trustStore } from '../../src/state/trust.ts'
import { createPlace } from '../place.ts'

it('what is wrong with an entry says in which file and line, also where two files have the same mistake', async () => {
  const { paths } = createPlace()
  const files = [join(paths.agentDir, 'mcp.json'), join(paths.cwd, '.pi', 'mcp.json')]
  for (const file of files) {
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(
      file,
      '{\n  "mcpServers": {\n    "docs": { "url": "http://127.0.0.1:1/", "timeout": -1 }\n  }\n}\n',
    )
  }
  mkdirSync(paths.loopsDir, { recursive: true })
  const loops = join(paths.loopsDir, 'mcp.toml')
  writeFileSync(loops, '[[server]]\nname = "hub"\ncommand = ""\n')
  const told: string[] = []
  const tapline = await createTapline({
    paths,
    env: {},
    info: { name: 'test', version: '1' },
    mode: 'headless',
    pushes: 'ignore',
    projectTrusted: true,
    trust: trustStore(paths.agentDir),
    registered: () => [],
    onDiagnostic: ({ message }) => void told.push(message),
  })
  onTestFinished(() => tapline.close())
  const timeout = "mcp server 'docs' failed: timeout must be a positive number of seconds"
  expect(told).toEqual([
    ...files.map((file) => `${timeout} (${file}:3)`),
    expect.stringMatching(/^mcp server 'hub' failed: missing command .*mcp\.toml(?::\d+)?\)$/),
  ])
  expect(tapline.diagnostics.map(({ message }) => message)).toEqual(told)
})

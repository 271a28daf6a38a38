import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { toolNames, transcript } from '../drivers/chat.ts'
import { startFakeModel } from '../drivers/fake-model.ts'
import type { FakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { runPi } from '../drivers/pi-run.ts'
import { startPi } from '../drivers/pi.ts'
import type { Pi } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import type { Registry } from '../drivers/registry.ts'
import { createScratch } from '../drivers/scratch.ts'
import type { Scratch } from '../drivers/scratch.ts'
import { REPOSITORY } from '../packed/workspaces.ts'
import { stdioEntry } from './tapline.ts'

/** A home of its own in which packages are installed as a person does it, with the real pi. */
export interface Home extends AsyncDisposable {
  readonly scratch: Scratch
  readonly model: FakeModel
  /** Runs `pi install <source>`, which must succeed. */
  install(source: string): Promise<void>
  /** Starts pi as it is installed: with nothing on the command line. */
  start(env?: Readonly<Record<string, string>>): Promise<Pi>
}

/** A home with a model, where npm finds our packages in the registry. */
export async function createHome(registry: Registry): Promise<Home> {
  const model = await startFakeModel()
  const scratch = createScratch()
  return {
    scratch,
    model,
    async install(source) {
      const env = { ...registry.env, PI_OFFLINE: undefined }
      const ran = await runPi(['install', source], { scratch, model, env, ms: 90_000 })
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(`Installed ${source}`) })
    },
    start: (env = {}) => startPi({ scratch, env }),
    async [Symbol.asyncDispose]() {
      await model.close()
      await scratch.dispose()
    },
  }
}

/** Writes the configuration that {@link expectService} is about: a server with tools, and one that pushes. */
export function configure({ scratch }: Home, more: Readonly<Record<string, object>> = {}): void {
  const everything = { ...stdioEntry(servers.everything), exposure: 'direct' }
  scratch.write('agent/mcp.json', { mcpServers: { everything, ...more } })
  const { command, args } = stdioEntry(servers.notify, '--every', '100', '--count', '3')
  const entry = {
    name: '"notify"',
    command: JSON.stringify(command),
    args: JSON.stringify(args),
    inject_summary: 'true',
  }
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${value}`)
  scratch.write('agent/loops/mcp.toml', ['[[server]]', ...lines, ''].join('\n'))
}

/** The servers are connected, the model calls a tool of one, and the pushes of the other arrive in the chat. */
export async function expectService({ model }: Home, pi: Pi): Promise<void> {
  await expectServers(pi, /everything: connected · \d+ tools/, /notify: connected · 1 tool/)
  await pi.prompt('CALL mcp__everything__echo {"message":"from the model"}')
  const last = model.requests().at(-1)!
  expect(toolNames(last)).toEqual(expect.arrayContaining(['mcp__everything__echo', 'demo_status']))
  expect(transcript(last)).toContain('Echo: from the model')
  const shown = (): string[] =>
    pi.events.flatMap((event) =>
      event.type === 'message_end' && event['message']?.customType === 'tapline:push'
        ? [String(event['message'].content)]
        : [],
    )
  await waitUntil(
    () => shown().length === 3,
    20_000,
    () => `three pushes; there are ${shown().join('\n')}`,
  )
  expect(shown().map((text) => /demo beat (\d)/.exec(text)?.[1])).toEqual(['1', '2', '3'])
  await expectSubAgent(model, pi)
  expect(pi.stderr).toBe('')
}

/** A rule is checked by a sub-agent, which pi's own modules run, wherever Tapline lies. */
async function expectSubAgent(model: FakeModel, pi: Pi): Promise<void> {
  pi.answer(({ options }) => options?.find((option) => option.startsWith('Yes')))
  await pi.command('/new-trigger when the moon is full, then say so')
  model.script([{ toolCalls: [{ name: 'report_matches', args: { matches: [] } }] }, { text: 'it is not' }])
  await pi.command('/triggers run 1')
  const told = (): boolean => pi.notices().some((notice) => /did not hold .*\nit is not$/.test(notice))
  await waitUntil(told, 20_000, () => `what came of the check: ${pi.notices().join('\n')}`)
  const names = toolNames(model.requests().at(-1)!)
  expect(names).toEqual(expect.arrayContaining(['read', 'report_matches', 'mcp__everything__echo']))
  expect(names).not.toContain('bash')
}

/** Waits until `/mcp` prints a line for each of these. */
export async function expectServers(pi: Pi, ...lines: readonly RegExp[]): Promise<void> {
  let shown = ''
  const look = async (): Promise<boolean> => {
    shown = (await pi.command('/mcp')).join('\n')
    return lines.every((line) => line.test(shown))
  }
  await waitUntil(look, 30_000, () => `${lines.join(' and ')} in ${shown}`)
}

/** A repository whose only commit is the working tree as it is, without what git ignores. */
export function commitWorkingTree(folder: string): void {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
  mkdirSync(folder, { recursive: true })
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  })
  for (const file of files
    .split('\0')
    .filter((name) => name !== '' && existsSync(path.join(REPOSITORY, name)))) {
    cpSync(path.join(REPOSITORY, file), path.join(folder, file))
  }
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all', '--force')
  git('commit', '--quiet', '--message=The working tree')
}

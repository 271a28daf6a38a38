import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { Cron, CronJob } from '@tapline/cron'
import { describe, expect, it } from 'vitest'
import type { CommandScope } from '../../src/session/commands/command.ts'
import { cronCommand } from '../../src/session/commands/cron.ts'

const PATHS = { cwd: '/nowhere', home: '/home', agentDir: '/nowhere', loopsDir: '/nowhere' }
const WORDS = ['list', 'add', 'remove', 'rm', 'enable', 'disable', 'run', 'help']

const job: CronJob = {
  id: 'job-1a2b3c4d',
  name: 'build',
  schedule: 'every 30m',
  text: 'check the build',
  deliver: 'run',
  cwd: '/nowhere',
  enabled: true,
  createdAt: '2026-11-30T12:00:00.000Z',
  enabledAt: '2026-11-30T12:00:00.000Z',
  runs: 0,
}
const cron = { own: () => [job], list: () => [job] } as unknown as Cron
const tapline = { services: { cron } } as unknown as CommandScope['tapline']
const complete = (typed: string): string[] | undefined =>
  cronCommand.complete(typed, tapline, PATHS)?.map(({ value }) => value)

/** What the command says where the plugin is not loaded. */
async function told(args: string): Promise<string> {
  const notices: string[] = []
  const ctx = {
    ui: { notify: (text: string) => void notices.push(text) },
  } as unknown as ExtensionCommandContext
  await cronCommand.run(args, ctx, { tapline: { services: {} } } as unknown as CommandScope)
  return notices.join('\n')
}

describe('/cron', () => {
  it('offers each of its words, and the jobs where one is asked for', () => {
    expect(complete('')).toEqual(WORDS)
    expect(complete('re')).toEqual(['remove'])
    expect(complete('remove')).toBeUndefined()
    for (const action of ['remove', 'rm', 'enable', 'disable', 'run']) {
      expect(complete(`${action} `)).toEqual([`${action} job-1a2b3c4d`])
      expect(complete(`${action} job-1a2b3c4d`)).toBeUndefined()
      expect(complete(`${action} x`)).toBeUndefined()
    }
    expect(complete('add every')).toBeUndefined()
    expect(cronCommand.complete('remove ', undefined, PATHS)).toBeNull()
  })

  it('says that its plugin is not loaded, whatever is asked', async () => {
    for (const word of WORDS) expect(await told(word)).toContain('The plugin "cron" is not loaded')
    expect(await told('nonsense')).toBe(`unknown /cron command: nonsense. usage: /cron [${WORDS.join('|')}]`)
  })
})

import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { describe, expect, it } from 'vitest'
import type { CommandScope } from '../../src/session/commands/index.ts'
import { SUBCOMMANDS, triggersCommand } from '../../src/session/commands/triggers/index.ts'

const PATHS = { cwd: '/nowhere', home: '/home', agentDir: '/nowhere', loopsDir: '/nowhere' }
/** As the command's documentation lists them. */
const WORDS = `status rules sources hooks enable resume disable pause remove rm delete
  set run running audit abort panel help`.split(/\s+/)

/** What the command says to a person, with nothing behind it. */
async function told(args: string): Promise<string> {
  const notices: string[] = []
  const ctx = { mode: 'rpc', hasUI: false, ui: { notify: (text: string) => void notices.push(text) } }
  const tapline = {
    servers: [],
    services: {},
    diagnostics: [],
    pipeline: { book: () => ({ counts: {}, recent: [] }) },
  }
  const scope = { tapline, toolbox: { toolsOf: () => [] }, paths: PATHS, panel: { turn: () => undefined } }
  await triggersCommand.run(args, ctx as unknown as ExtensionCommandContext, scope as unknown as CommandScope)
  return notices.join('\n')
}

describe('the subcommands of /triggers', () => {
  it('are all dispatched, in the help, in the usage and in the completions', async () => {
    expect(SUBCOMMANDS.flatMap(({ names }) => names)).toEqual(WORDS)
    const [help, usage] = [await told('help'), await told('nonsense')]
    expect(usage).toBe(`unknown /triggers command: nonsense. usage: /triggers [${WORDS.join('|')}]`)
    for (const word of WORDS) {
      expect(await told(word)).not.toMatch(/^unknown|^$/)
      expect(help).toMatch(new RegExp(`^ {2}/triggers (\\S+\\|)?${word}\\b`, 'm'))
      const begun = triggersCommand.complete(word.slice(0, -1), undefined, PATHS) ?? []
      expect(begun.map(({ value }) => value)).toContain(word)
      expect(triggersCommand.complete(word, undefined, PATHS)).toBeNull()
    }
    const offered = triggersCommand.complete('', undefined, PATHS) ?? []
    expect(offered.map(({ value }) => value)).toEqual(SUBCOMMANDS.map(({ names }) => names[0]))
    expect(offered.every(({ description }) => Boolean(description))).toBe(true)
  })

  it('mean status when none is named, and complete what follows them', async () => {
    expect(await told('')).toMatch(/^Triggers\n/)
    expect(await told(' panel  sideways')).toBe('usage: /triggers panel on|off')
    const complete = (typed: string) =>
      triggersCommand.complete(typed, undefined, PATHS)?.map(({ value }) => value)
    expect(complete('panel ')).toEqual(['panel on', 'panel off'])
    expect(complete('panel of')).toEqual(['panel off'])
    expect(complete('rm --all')).toEqual(['rm --all-projects'])
    expect(complete('audit --')).toEqual(['audit --all'])
    expect(complete('status ')).toBeUndefined()
    expect(complete('set dyn-1 --model a/b --t')).toEqual([
      'set dyn-1 --model a/b --thinking',
      'set dyn-1 --model a/b --timeout',
    ])
  })
})

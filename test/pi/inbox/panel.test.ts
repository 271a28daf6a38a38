import { describe, expect, it } from 'vitest'
import { textOf } from '../../drivers/chat.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, TAPLINE, type Stage } from '../stage.ts'
import { findings, findingsArrive, writeFindings } from './findings.ts'

async function openPi(
  { scratch, model }: Stage,
  columns = 80,
  theme = 'dark',
  more: readonly string[] = [],
): Promise<Terminal> {
  const args = [TAPLINE, ...more].flatMap((path) => ['-e', path])
  const prepared = preparePi({ scratch, model, args, settings: { theme } })
  return startTerminal({ ...prepared, columns, rows: 32 })
}

/** Lines that begin with the pointer. */
const pointed = (screen: string): string[] => screen.split('\n').filter((line) => line.startsWith(' › '))

describe('the inbox panel in the terminal', () => {
  it('is taken away by the end of its session, and pi goes on listening', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'build 7 failed' })
    const ending = stage.extension(
      'ending',
      `pi.registerCommand('ending', { handler: async (_, ctx) => void setTimeout(() => ctx.reload(), 1_000) })`,
    )
    await using terminal = await openPi(stage, 80, 'dark', [ending])
    await terminal.waitForScreen(/^ *Inbox: 1 new/m, PATIENCE_MS)
    await terminal.submit('/ending')
    await terminal.submit('/inbox')
    await terminal.waitForScreen(/Inbox of this project: 1 new/, PATIENCE_MS)
    await terminal.waitForScreen(/^ *Reloaded /m, PATIENCE_MS)
    await terminal.submit('hello')
    const { body } = await stage.model.waitForRequest(undefined, PATIENCE_MS)
    expect(textOf(body.messages.at(-1)!.content)).toBe('hello')
  })

  it('is moved through, dismissed from and claimed from, in eighty columns', async () => {
    await using stage = await createStage()
    writeFindings(
      stage,
      { text: 'build 7 failed \u001B[31m\u202Ein red' },
      { text: `deploy to production? ${'because of this and that '.repeat(9)}`, kind: 'checkpoint' },
      { text: '日本語のビルドが失敗しました 👩‍👩‍👧 '.repeat(6), cwd: stage.scratch.project },
      { text: 'theirs', cwd: '/work/other' },
    )
    await using terminal = await openPi(stage)
    await terminal.waitForScreen(/^ *Inbox: 3 new \(1 to decide\)/m, PATIENCE_MS)
    await terminal.submit('/inbox')
    const opened = await terminal.waitForScreen(/Inbox of this project: 3 new, 1 to decide/, PATIENCE_MS)
    expect(pointed(opened)).toEqual([
      expect.stringMatching(/^ › ! deploy to production\?.*… +hub, \d+ \w+ ago$/),
    ])
    expect(opened).toMatch(/^ {3}build 7 failed in red +hub, .* ago$/m)
    expect(opened).toMatch(/^ {3}日本語.*… +hub, .* ago$/m)
    expect(opened).toMatch(/^ ↑↓ move · enter claim · d dismiss · c clear · tab every project · esc close$/m)
    expect(opened).toMatch(/^ \+ 1 new in other projects$/m)

    await terminal.key('Down')
    await terminal.waitForScreen((screen) => pointed(screen)[0]?.includes('build 7') === true, PATIENCE_MS)
    await terminal.key('d')
    await terminal.waitForScreen(/Dismissed a0000000\./, PATIENCE_MS)
    expect(findings(stage).map(({ status }) => status)).toEqual(['dismissed', 'new', 'new', 'new'])
    await terminal.key('Tab')
    const all = await terminal.waitForScreen(/Inbox of every project: 3 new/, PATIENCE_MS)
    expect(all).toMatch(/^ {3}theirs +hub, /m)
    // What another process does is shown by itself.
    writeFindings(stage, ...findings(stage), { id: 'inb-new', text: 'just arrived', created_at: 'now' })
    await terminal.waitForScreen(/^ {3}just arrived +hub$/m, PATIENCE_MS)
    await terminal.key('Up', 'Up', 'Up')
    await terminal.waitForScreen((screen) => pointed(screen)[0]?.includes('deploy') === true, PATIENCE_MS)

    await terminal.key('Enter')
    const request = await stage.model.waitForRequest(undefined, PATIENCE_MS)
    expect(textOf(request.body.messages.at(-1)!.content)).toMatch(
      /<finding source="trigger:mcp:hub".*>deploy to production\?/,
    )
    const after = await terminal.waitForScreen(/Claimed \[b1000000\]: a turn with it begins\./, PATIENCE_MS)
    expect(after).not.toMatch(/enter claim/)
    await terminal.waitForScreen(/^ *Inbox: 2 new *$/m, PATIENCE_MS)
    expect(findings(stage)[1]).toMatchObject({ status: 'claimed' })
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('asks before it clears, keeps what came since, and closes with escape', async () => {
    await using stage = await createStage()
    writeFindings(stage, { text: 'one' }, { text: 'two' })
    await using terminal = await openPi(stage, 60, 'light')
    await terminal.waitForScreen(/^ *Inbox: 2 new/m, PATIENCE_MS)
    await terminal.submit('/inbox')
    await terminal.waitForScreen(/Inbox of this project: 2 new/, PATIENCE_MS)
    await terminal.key('c')
    await terminal.waitForScreen(/Dismiss all 2 that are listed\? c again: yes/, PATIENCE_MS)
    await terminal.key('Down')
    await terminal.waitForScreen((screen) => !screen.includes('Dismiss all'), PATIENCE_MS)
    expect(findings(stage).map(({ status }) => status)).toEqual(['new', 'new'])
    await terminal.key('c')
    await terminal.waitForScreen(/Dismiss all 2 that/, PATIENCE_MS)
    writeFindings(stage, ...findings(stage), { id: 'inb-new', text: 'three' })
    await terminal.waitForScreen(/^ {3}three/m, PATIENCE_MS)
    await terminal.key('c')
    await terminal.waitForScreen(/Dismissed 2\./, PATIENCE_MS)
    expect(findings(stage).map(({ status }) => status)).toEqual(['dismissed', 'dismissed', 'new'])
    await terminal.resize(24, 12)
    await terminal.waitForScreen(/^ › three/m, PATIENCE_MS)
    await terminal.resize(60, 30)
    await terminal.key('Escape')
    await terminal.waitForScreen((screen) => !screen.includes('Inbox of'), PATIENCE_MS)
    await terminal.submit('hello')
    await stage.model.waitForRequest(undefined, PATIENCE_MS)
    expect(await findingsArrive(stage, 3)).toHaveLength(3)
  })
})

import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, type Stage, TAPLINE } from '../stage.ts'
import { lastUserText, prompt, shelve } from './shelf.ts'

/** pi's own interface, when this many servers are connected and their prompts listed. */
async function openPi(
  { scratch, model }: Stage,
  count: number,
  more: readonly string[] = [],
): Promise<Terminal> {
  const args = [TAPLINE, ...more].flatMap((file) => ['-e', file])
  const terminal = await startTerminal({ ...preparePi({ scratch, model, args }), columns: 100, rows: 36 })
  await terminal.waitForScreen(new RegExp(`^ *MCP ${count}/${count} *$`, 'm'), PATIENCE_MS)
  return terminal
}

/** Types a line, again and again until the menu shows it: what is typed just after a start may come before the list. */
async function shows(terminal: Terminal, line: string, match: RegExp): Promise<string> {
  for (const deadline = performance.now() + PATIENCE_MS; ;) {
    await terminal.key('C-u')
    await terminal.type(line)
    const screen = await terminal.waitForScreen(match, 1_000).catch(() => undefined)
    if (screen !== undefined) return screen
    if (performance.now() > deadline)
      throw new Error(`${match} is not on this screen:\n${await terminal.screen()}`)
  }
}

describe('prompts in the terminal interface of the real pi', () => {
  it('complete their names, and the values of their arguments in the light of what is typed', async () => {
    await using stage = await createStage()
    stage.json({ ref: { command: process.execPath, args: [servers.everything, 'stdio'] } })
    await using terminal = await openPi(stage, 1)
    const menu = await shows(terminal, '/comp', /mcp:ref:completable-prompt/)
    expect(menu).toMatch(/compact/)
    expect(menu).toMatch(/mcp:ref:completable-prompt +<department> <name> — First argument/)
    await shows(terminal, '/mcp:ref:completable', /→ mcp:ref:completable-prompt/)
    await terminal.key('Tab')
    await terminal.waitForScreen(/^ *\/mcp:ref:completable-prompt *$/m, PATIENCE_MS)
    await terminal.type('S')
    await terminal.waitForScreen(/→ Sales[^]*Support/, PATIENCE_MS)
    await terminal.key('Tab')
    await terminal.waitForScreen(/completable-prompt Sales *$/m, PATIENCE_MS)
    await terminal.type(' E')
    const names = await terminal.waitForScreen(/→ Eve/, PATIENCE_MS)
    expect(names).not.toMatch(/Alice|Frank/)
    await terminal.key('Enter')
    await terminal.waitForScreen(/completable-prompt Sales Eve *$/m, PATIENCE_MS)
    // What is complete is sent by the next Enter.
    await terminal.key('Enter')
    const answered = await terminal.waitForScreen(/ECHO\[user\]/, PATIENCE_MS)
    expect(answered).toContain('Please promote Eve to the head of the Sales team.')
    expect(stage.model.requests().map(lastUserText)).toEqual([
      'Please promote Eve to the head of the Sales team.',
    ])
  })

  it('complete what there is now, put quotes where they belong, and never hold up the editor', async () => {
    await using stage = await createStage()
    const complete = { file: ['src/a b.ts', 'src/c.ts'], slow: { values: ['never'], delayMs: 30_000 } }
    const prompts = [prompt('review', 'file', 'slow?'), prompt('other')]
    stage.json({ fix: shelve(stage, 'fix', { prompts, complete }) })
    await using terminal = await openPi(stage, 1)
    await shows(terminal, '/mcp:fix:', /mcp:fix:other[^]*mcp:fix:review/)
    shelve(stage, 'fix', { prompts: [prompt('review', 'file', 'slow?'), prompt('later')], complete })
    const changed = await shows(terminal, '/mcp:fix:', /mcp:fix:later/)
    expect(changed).not.toMatch(/mcp:fix:other/)
    await terminal.type('review src')
    await terminal.waitForScreen(/^ +src\/a b\.ts +file: What file is\.$[^]*^→ src\/c\.ts *$/m, PATIENCE_MS)
    await terminal.key('Up', 'Tab')
    await terminal.waitForScreen(/\/mcp:fix:review "src\/a b\.ts" *$/m, PATIENCE_MS)
    const from = performance.now()
    await terminal.type(' typing goes on')
    await terminal.waitForScreen(/"src\/a b\.ts" typing goes on *$/m, 3_000)
    expect(performance.now() - from).toBeLessThan(3_000)
    await terminal.key('Enter')
    await terminal.waitForScreen(/ECHO\[user\]/, PATIENCE_MS)
    expect(stage.model.requests().map(lastUserText)).toEqual([
      'review {"file":"src/a b.ts","slow":"typing goes on"}',
    ])
  })

  it('ask for what is missing, are cancelled with Escape, and keep the order of what is typed meanwhile', async () => {
    await using stage = await createStage()
    const get = { late: { delayMs: 60_000 }, soon: { delayMs: 1_500, ...text('Soon.') } }
    const prompts = [prompt('two', 'a'), prompt('late'), prompt('soon')]
    stage.json({ fix: shelve(stage, 'fix', { prompts, get }) })
    await using terminal = await openPi(stage, 1)
    await terminal.submit('/mcp:fix:two')
    const question = await terminal.waitForScreen(
      /"fix" needs a value:\n {3}│ "a" for prompt "two"/,
      PATIENCE_MS,
    )
    expect(question).toContain('│ What a is.')
    await terminal.key('Escape')
    await terminal.waitForScreen(/\/mcp:fix:two was cancelled\./, PATIENCE_MS)
    await terminal.submit('/mcp:fix:two')
    await terminal.waitForScreen(/"a" for prompt "two"/, PATIENCE_MS)
    await terminal.type('the value')
    await terminal.key('Enter')
    await terminal.waitForScreen(/ECHO\[user\]: two \{"a":"the value"\}/, PATIENCE_MS)

    await terminal.submit('/mcp:fix:late')
    await terminal.waitForScreen(
      /Waiting for prompt "late" of MCP server "fix" \(escape cancels\)/,
      PATIENCE_MS,
    )
    await terminal.type('kept')
    // Read at once, two are one to pi.
    await terminal.key('Escape', 'Escape')
    const cancelled = await terminal.waitForScreen(/\/mcp:fix:late was cancelled\./, PATIENCE_MS)
    expect(cancelled).not.toContain('Waiting for')
    expect(cancelled).toMatch(/^ *kept *$/m)
    await stage.log('fix').waitFor(({ message }) => message?.method === 'notifications/cancelled')

    await terminal.key('C-u')
    await terminal.submit('/mcp:fix:soon')
    await terminal.waitForScreen(/Waiting for prompt "soon"/, PATIENCE_MS)
    await terminal.submit('And then this.')
    await waitUntil(() => stage.model.requests().length === 3, PATIENCE_MS, 'both messages')
    expect(stage.model.requests().slice(1).map(lastUserText)).toEqual(['Soon.', 'And then this.'])
  })

  it('are offered once in every session of the process', async () => {
    await using stage = await createStage()
    stage.json({
      fix: shelve(stage, 'fix', { prompts: [prompt('review', 'file')], complete: { file: ['x.ts'] } }),
    })
    const renew = stage.extension(
      'renew',
      `pi.registerCommand('again', { handler: async (_, ctx) => ctx.reload() })`,
    )
    await using terminal = await openPi(stage, 1, [renew])
    for (const begin of ['/new', '/again', '/new']) {
      await terminal.submit(begin)
      await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
      const menu = await shows(terminal, '/mcp:f', /mcp:fix:review/)
      expect(menu.match(/mcp:fix:review/g)).toHaveLength(1)
      await shows(terminal, '/mcp:fix:review x', /→ x\.ts/)
      await terminal.key('C-u')
    }
  })
})

function text(value: string) {
  return { messages: [{ role: 'user', content: { type: 'text', text: value } }] }
}

import { describe, expect, it } from 'vitest'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { createStage, misbehaving, PATIENCE_MS, TAPLINE } from '../stage.ts'
import { ruleId, writeRules } from './rules.ts'

describe('what completes /triggers in pi’s own interface', () => {
  it('has the numbers of the list that was printed, whatever is removed meanwhile', async () => {
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    writeRules(
      stage,
      { id: ruleId('a'), condition: 'first' },
      { id: ruleId('b'), condition: 'second' },
      { id: ruleId('c'), condition: 'third' },
    )
    const prepared = preparePi({ scratch: stage.scratch, model: stage.model, args: ['-e', TAPLINE] })
    await using terminal = await startTerminal({ ...prepared, columns: 100, rows: 30 })
    await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
    await terminal.submit('/triggers rules')
    await terminal.waitForScreen(/when: third/, PATIENCE_MS)
    await terminal.submit('/triggers remove 1')
    await terminal.waitForScreen(/removed dyn-a/, PATIENCE_MS)
    await terminal.type('/triggers disable ')
    const screen = await terminal.waitForScreen(/--all-projects/, PATIENCE_MS)
    expect(screen).toMatch(/dyn-b0+ +2\. second/)
    expect(screen).toMatch(/dyn-c0+ +3\. third/)
    await terminal.key('C-c')
    await terminal.type('/triggers set 2 --thinking x')
    await terminal.waitForScreen(/2 --thinking xhigh/, PATIENCE_MS)
    await terminal.key('Tab', 'Enter')
    await terminal.waitForScreen(/changed:[^]* dyn-b0+ [^]*thinking xhigh/, PATIENCE_MS)
  })

  it('asks in one look what kind of rule it is to be', async () => {
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    const prepared = preparePi({ scratch: stage.scratch, model: stage.model, args: ['-e', TAPLINE] })
    await using terminal = await startTerminal({ ...prepared, columns: 80, rows: 30 })
    await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
    await terminal.submit('/new-trigger when build.done exists, then tell me')
    const screen = await terminal.waitForScreen(/Make this rule\?/, PATIENCE_MS)
    expect(screen).toMatch(/ Make this rule\? *\n When: build\.done exists *\n Then: tell me *\n/)
    expect(screen).toMatch(
      /→ No *\n {3}Yes, once, and show the result in the chat *\n {3}Yes, once, and keep/,
    )
    await terminal.key('Down', 'Down', 'Down', 'Enter')
    await terminal.waitForScreen(
      /made a dynamic trigger rule:[^]*\[enabled, repeat, promote_to_chat\]/,
      PATIENCE_MS,
    )

    // What a model wants is read to its end, and a careless Enter is no yes.
    const args = { condition: `it ${'really '.repeat(300)}is`, action: 'delete everything', spec: 'as it is' }
    stage.model.script([{ toolCalls: [{ name: 'new_trigger', args }] }, { text: 'Very well.' }])
    await terminal.submit('Make a rule.')
    let page = await terminal.waitForScreen(/Control-plane approval required/, PATIENCE_MS)
    for (let n = 2; / → Read on\n {3}No\n/.test(page); n++) {
      expect(page).not.toContain('delete everything')
      await terminal.key('Enter')
      page = await terminal.waitForScreen(new RegExp(`\\(${n} of \\d+\\)`))
    }
    expect(page).toMatch(/really is\n {3}- then delete everything\n[^]*\n → No\n {3}Yes\n/)
    await terminal.key('Enter')
    await terminal.waitForScreen(/denied: new_trigger/, PATIENCE_MS)
  })
})

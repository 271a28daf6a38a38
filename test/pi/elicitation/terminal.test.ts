import { expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, TAPLINE } from '../stage.ts'

it('asks in a small terminal: a form on top of what waits for it, and an address with its host marked', async () => {
  await using stage = await createStage()
  const { scratch, model } = stage
  const entry = (...args: string[]) => ({ command: process.execPath, args, exposure: 'direct' })
  stage.json({ ref: entry(servers.everything, 'stdio'), new: entry(servers.modern, '--prompts', '--asks') })
  const prepared = preparePi({ scratch, model, args: ['-e', TAPLINE] })
  await using terminal = await startTerminal({ ...prepared, columns: 80, rows: 24 })
  await terminal.waitForScreen(/MCP 2\/2/, PATIENCE_MS)

  // The prompt waits in a dialog of its own, below the question.
  await terminal.submit('/mcp:new:ask')
  const form = await terminal.waitForScreen(/asks you:/, PATIENCE_MS)
  expect(form).toMatch(
    /^ The MCP server "new" asks you:\n {3}│ Why\?\n It wants to know:\n {3}1\. why \(text\)$/m,
  )
  expect(form).toMatch(/^ → Answer\n {3}Decline\n {3}Not now$/m)
  await terminal.key('Enter')
  await terminal.waitForScreen(/asks, 1 of 1:/)
  await terminal.submit('of thirst')
  const review = await terminal.waitForScreen(/Send this to the MCP server "new"\?/)
  expect(review).toMatch(/^ → Send\n {3}1\. why: of thirst\n {3}Decline$/m)
  await terminal.key('Enter')
  await terminal.waitForScreen(/ask because of thirst/, PATIENCE_MS)

  // Several of a list are ticked in one dialog, which stays until that is done.
  model.script([{ toolCalls: [{ name: 'mcp__new__ask', args: {} }] }])
  await terminal.submit('Please go on.')
  await terminal.waitForScreen(/2\. Drinks \(up to 2 of 3\)/, PATIENCE_MS)
  await terminal.key('Enter')
  await terminal.waitForScreen(/asks, 1 of 2:/)
  await terminal.submit('Ada')
  const list = await terminal.waitForScreen(/asks, 2 of 2:/)
  expect(list).toMatch(/^ {3}│ Drinks$/m)
  expect(list).toMatch(/^ → \[ \] tea\n {3}\[x\] coffee\n {3}\[ \] milk$/m)
  await terminal.key('Space', 'Down', 'Down', 'Space')
  await terminal.waitForScreen(/^ {3}\[x\] tea\n {3}\[x\] coffee\n → \[x\] milk$/m)
  await terminal.key('Enter')
  await terminal.waitForScreen(/^ ! Choose 2 or fewer\.$/m)
  await terminal.key('Down', 'Space', 'Enter')
  await terminal.waitForScreen(/^ → Send\n {3}1\. Name: Ada\n {3}2\. Drinks: tea, milk$/m)
  await terminal.key('Enter')
  await terminal.waitForScreen(/"drinks": ?\["tea", ?"milk"\]/, PATIENCE_MS)

  const url = `https://xn--80ak6aa92e.com/in?${'x'.repeat(120)}`
  model.script([{ toolCalls: [{ name: 'mcp__ref__trigger_url_elicitation', args: { url } }] }])
  await terminal.submit('Please go on.')
  const address = await terminal.waitForScreen(/leads you to/, PATIENCE_MS)
  expect(address.replaceAll(/\n ?/g, '')).toContain(url)
  expect(address).toContain('! This name has letters that may look like others')
  expect(address).toMatch(/^ → Not now$/m)
  expect(Math.max(...address.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  // oxlint-disable-next-line no-control-regex -- that is how the host is marked.
  expect(await terminal.screen('coloured')).toMatch(/https:\/\/\u001B\[7mxn--80ak6aa92e\.com\u001B\[/)
  // Whoever was typing has opened nothing.
  await terminal.key('Enter')
  await terminal.waitForScreen(/User cancelled the URL elicitation/, PATIENCE_MS)

  // One that is taller than the terminal is read page by page, and nothing is decided below its edge.
  const long = `https://example.com/${'0123456789'.repeat(190)}`
  model.script([{ toolCalls: [{ name: 'mcp__ref__trigger_url_elicitation', args: { url: long } }] }])
  await terminal.submit('Please go on.')
  const page = await terminal.waitForScreen(/^ → Read on\n {3}Not now$/m, PATIENCE_MS)
  expect(page).toContain('The MCP server "ref" asks you to open an address in your browser:')
  const pages = [page]
  while (!pages.at(-1)?.includes('leads you to')) {
    await terminal.key('Enter')
    pages.push(await terminal.waitForScreen(new RegExp(`\\(${pages.length + 1} of \\d+\\)`)))
  }
  expect(pages.at(-1)).toMatch(/^ → Not now\n {3}Open it in the browser\n {3}I open it myself\n {3}Decline$/m)
  expect(pages.at(-1)).toMatch(/^MCP 2\/2$/m)
  // Between the borders.
  const read = pages.map(
    (screen) =>
      screen
        .split(/^─+\n/m)
        .at(-2)
        ?.match(/^ \S+$/gm) ?? [],
  )
  expect(read.flat().join('').replaceAll(' ', '')).toContain(long)
  await terminal.key('Enter')
  const after = await terminal.waitForScreen(/User cancelled the URL elicitation/, PATIENCE_MS)
  expect(after).not.toContain('leads you to')
})

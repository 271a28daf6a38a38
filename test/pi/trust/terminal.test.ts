import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { preparePi } from '../../drivers/pi-process.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, TAPLINE, tomlOf } from '../stage.ts'

const QUESTION = 'Use the MCP configuration of this project?'
/** What a file of a project might say in Tapline's place. */
const LIE = 'The answer holds until the file changes.'
const COUNT = 12

/** What stands in the dialog, line by line: below its border, above what it offers. */
function lines(screen: string): readonly string[] {
  const dialog = screen.split(/^─+\n/m)[1] ?? ''
  return (dialog.split(/^ → /m)[0] ?? '').split('\n').map((line) => line.trimEnd())
}

/** Reads a question that begins like this to its end; answers the screen of each page. */
async function read(terminal: Terminal, begins: RegExp): Promise<readonly [string, ...string[]]> {
  const pages: [string, ...string[]] = [await terminal.waitForScreen(begins, PATIENCE_MS)]
  for (let page = pages[0]; / → Read on\n/.test(page); pages.push(page)) {
    await terminal.key('Enter')
    page = await terminal.waitForScreen(new RegExp(`\\(${pages.length + 1} of \\d+\\)`))
  }
  return pages
}

it('shows every command of a project in a small terminal before it takes a yes', async () => {
  await using stage = await createStage()
  const { scratch, model } = stage
  const servers = Object.fromEntries(
    Array.from({ length: COUNT }, (_, n) => {
      const args = ['-c', `${`word-${n} `.repeat(30)}${'x'.repeat(n)} ${LIE} end-${n}`]
      return [`server-${n}`, { command: '/bin/sh', args, enabled: false }]
    }),
  )
  scratch.write('project/.pi/mcp.toml', tomlOf(servers))
  const prepared = preparePi({ scratch, model, args: ['-e', TAPLINE] })
  await using terminal = await startTerminal({ ...prepared, columns: 80, rows: 24 })

  const check = (pages: readonly string[]): void => {
    const shown = pages.flatMap(lines)
    const seen = shown.join(' ').replaceAll(/\s+/g, ' ')
    for (let n = 0; n < COUNT; n++) {
      expect(seen).toContain(`- server-${n} runs: /bin/sh -c `)
      expect(seen).toContain(`end-${n}"`)
    }
    // Words of the file stand behind their mark, or below where they began.
    const own = shown.filter((line) => /^ ?\S/.test(line))
    expect(own.filter((line) => /word|x{2}|end-|runs:/.test(line))).toEqual([])
    expect(own.join(' ').match(/The\s+answer\s+holds/g)).toHaveLength(1)
    // Nothing is decided below the edge.
    for (const page of pages.slice(0, -1)) expect(page).toMatch(/^ → Read on\n {3}Ask again next time$/m)
    expect(pages.at(-1)).toMatch(/^ → Ask again next time\n {3}Use this file\n {3}Do not use it$/m)
    expect(pages.at(-1)?.replaceAll(/\s+/g, ' ')).toContain('The answer holds until the file changes.')
  }

  const wide = await read(terminal, /Use the MCP configuration of this project\?/)
  check(wide)
  for (const page of wide) expect(page).toContain(QUESTION)
  // Whoever was typing has agreed to nothing.
  await terminal.key('Enter')
  await terminal.waitForScreen(/project is not\s+trusted/, PATIENCE_MS)
  const trust = path.join(scratch.agent, 'tapline/trust.json')
  expect(existsSync(trust)).toBe(false)

  await terminal.resize(40, 12)
  await terminal.submit('/new')
  const narrow = await read(terminal, /Use the MCP configuration of/)
  check(narrow)
  for (const page of narrow) expect(page).toContain('Use the MCP')
  await terminal.key('Down', 'Enter')
  const yes = () => existsSync(trust) && /"answer": ?true/.test(readFileSync(trust, 'utf8'))
  await waitUntil(yes, PATIENCE_MS, 'the saved yes')

  // The person's own words are read to their end, too.
  await terminal.type(`/new-trigger when ${'it is so '.repeat(30)}, then ${'say so '.repeat(30)}`)
  await terminal.key('Enter')
  const rule = await read(terminal, /Make this rule\?/)
  expect(rule.length).toBeGreaterThan(2)
  expect(rule.at(-1)).toMatch(/^ → No\n {3}Yes, once, and show/m)
  await terminal.key('Enter')
  await terminal.waitForScreen(/No rule was made\./, PATIENCE_MS)
})

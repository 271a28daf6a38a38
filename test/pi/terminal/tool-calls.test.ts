import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, type Stage, TAPLINE } from '../stage.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const said = (text: string) => ({ content: [{ type: 'text', text }] })
const lines = Array.from({ length: 12 }, (_, index) => `\tline ${index + 1} of 12`).join('\n')
const rows = Array.from({ length: 30 }, (_, index) => ({ row: index, name: `name ${index}` }))

/** What the server's tools answer. */
const ANSWERS = {
  short: said('done'),
  many: said(lines),
  json: said(JSON.stringify(rows)),
  fails: { ...said('no luck'), isError: true },
  picture: {
    content: [
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'text', text: 'a dot' },
    ],
  },
  nothing: { content: [] },
  long: said('One of many lines.\n'.repeat(2_000)),
  nasty: said(
    '\u001B[2J\u001B]0;owned\u0007red \u001B[31mwords\u001B[0m\u202E backwards\u0085next\u200B end',
  ),
}
type Tool = keyof typeof ANSWERS

const ARGUMENTS = { id: '7', text: 'two\nlines', nested: { list: [1, 2], words: 'x'.repeat(120) } }

type Under = 'pi' | 'tapline'
interface Look {
  readonly columns?: number
  readonly theme?: string
  readonly args?: readonly string[]
  readonly entries?: Readonly<Record<string, object>>
}

/** pi's own interface with one server, whose tools are declared. */
async function open(stage: Stage, under: Under, look: Look = {}): Promise<Terminal> {
  const { scratch, model } = stage
  const { columns = 80, theme = 'dark', args = [], entries } = look
  const script = scratch.write('script.json', {
    capabilities: { tools: {} },
    'tools/list': {
      '': { tools: Object.keys(ANSWERS).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    },
    'tools/call': ANSWERS,
  })
  const usual = { command: process.execPath, args: [servers.scripted, script], exposure: 'direct' }
  stage.json(entries ?? { 'my-docs': usual })
  const prepared = preparePi({
    scratch,
    model,
    args: [...(under === 'tapline' ? ['-e', TAPLINE] : []), ...args],
    settings: { theme, extensions: under === 'tapline' ? ['-builtin:mcp'] : [] },
  })
  return startTerminal({ ...prepared, columns, rows: 110 })
}

/** Has the model call these tools one after the other, and waits for its last word. */
async function call(stage: Stage, terminal: Terminal, tools: readonly Tool[]): Promise<void> {
  for (const name of tools)
    stage.model.script([
      { toolCalls: [{ name: `mcp__my_docs__${name}`, args: name === 'short' ? ARGUMENTS : {} }] },
    ])
  stage.model.script([{ text: 'That was all.' }])
  await terminal.submit('Go on.')
  // While it starts, pi keeps what was submitted in its editor, and nothing on the screen tells when it no longer does.
  const taken = async (): Promise<boolean> => {
    if (stage.model.requests().length > 0) return true
    await terminal.key('Enter')
    return false
  }
  await waitUntil(taken, PATIENCE_MS, 'pi to take the prompt')
  await terminal.waitForScreen(/That was all\./, PATIENCE_MS)
}

/** What the screen shows between the prompt and the model's last word; files have names of their own. */
async function transcript(
  terminal: Terminal,
  part: 'visible' | 'coloured' = 'visible',
): Promise<readonly string[]> {
  const shown = await atRest(terminal, part)
  const at = (words: string): number =>
    shown.findIndex((line) => stripVTControlCharacters(line).includes(words))
  return shown
    .slice(at('Go on.') + 1, at('That was all.'))
    .map((line) => line.replaceAll(/\/\S*\/(?:pi-)?mcp-\w+(?=\.txt)/g, '<file>'))
}

/** The screen when nothing has changed on it for several looks: pi draws in more than one step. */
async function atRest(terminal: Terminal, part: 'visible' | 'coloured'): Promise<readonly string[]> {
  let last = ''
  let same = 0
  await waitUntil(
    async () => {
      const now = await terminal.screen(part)
      same = now === last ? same + 1 : 0
      last = now
      return same >= 5
    },
    PATIENCE_MS,
    'the screen to come to rest',
  )
  return last.split('\n')
}

/** Each sign with what colours it: nobody sees in which colour a blank is written. */
function coloured(lines: readonly string[]): readonly string[] {
  const now = { front: '', ground: '', bold: '' }
  return lines.map((line) =>
    // oxlint-disable-next-line no-control-regex -- colours are what this reads.
    [...line.matchAll(/\u001B\[([\d;]*)m|([^\u001B])/g)]
      .map(([, codes, sign]) => {
        if (sign !== undefined)
          return sign === ' ' ? now.ground : `${sign}${now.front}${now.ground}${now.bold}`
        for (const [code] of (codes || '0').matchAll(/[34]8;5;\d+|\d+/g)) apply(code, now)
        return ''
      })
      .join(''),
  )
}

function apply(code: string, now: { front: string; ground: string; bold: string }): void {
  if (code === '0') Object.assign(now, { front: '', ground: '', bold: '' })
  else if (code === '1' || code === '22') now.bold = code === '1' ? '!' : ''
  else if (code === '39' || code.startsWith('38')) now.front = code === '39' ? '' : `<${code}>`
  else if (code === '49' || code.startsWith('48')) now.ground = code === '49' ? '' : `[${code}]`
  else throw new Error(`the colour ${code} is not expected`)
}

async function expand(terminal: Terminal): Promise<void> {
  await terminal.key('C-o')
  await terminal.waitForScreen(/Tool output: expanded/, PATIENCE_MS)
}

const TOOLS: readonly Tool[] = ['short', 'many', 'json', 'fails', 'picture', 'nothing']

describe('calls of servers’ tools in the terminal', () => {
  it.each([
    { theme: 'dark', columns: 80, tools: TOOLS },
    { theme: 'light', columns: 80, tools: TOOLS },
    { theme: 'dark', columns: 140, tools: [...TOOLS, 'long'] as const },
  ])('look as under pi’s own support: $theme, $columns columns', async ({ tools, ...look }) => {
    const [theirs, ours] = await Promise.all(
      (['pi', 'tapline'] as const).map(async (under) => {
        await using stage = await createStage()
        await using terminal = await open(stage, under, look)
        await call(stage, terminal, tools)
        const folded = coloured(await transcript(terminal, 'coloured'))
        // All of what is too long for the screen would scroll the rest away.
        if (tools !== TOOLS) return { folded }
        await expand(terminal)
        return { folded, expanded: coloured(await transcript(terminal, 'coloured')) }
      }),
    )
    expect(theirs!.folded.length).toBeGreaterThan(30)
    expect(ours).toEqual(theirs)
  })

  it('show what a server says without what would steer the terminal', async () => {
    await using stage = await createStage()
    await using terminal = await open(stage, 'tapline')
    await call(stage, terminal, ['nasty', 'fails'])
    const shown = await transcript(terminal)
    expect(shown).toContain(' red words backwardsnext end')
    expect(shown).toContain(' no luck')
  })

  it('are drawn in a session that is resumed although their server is gone', async () => {
    const [theirs, ours] = await Promise.all(
      (['pi', 'tapline'] as const).map(async (under) => {
        await using stage = await createStage()
        {
          await using terminal = await open(stage, under)
          await call(stage, terminal, ['short', 'json', 'fails'])
          await terminal.key('C-d')
          await terminal.waitForExit(PATIENCE_MS)
        }
        await using terminal = await open(stage, under, { args: ['--continue'], entries: {} })
        await terminal.waitForScreen(/That was all\./, PATIENCE_MS)
        const folded = await transcript(terminal)
        await expand(terminal)
        return { folded, expanded: await transcript(terminal) }
      }),
    )
    expect(ours?.folded.join('\n')).toContain('my_docs/short id="7"')
    expect(ours?.folded.join('\n')).toMatch(/\.\.\. \(\d+ more lines, ctrl\+o to expand\)/)
    expect(ours).toEqual(theirs)
  })
})

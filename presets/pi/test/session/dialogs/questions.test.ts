import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Server, TrustStore } from '@tapline/headless'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { askAboutChannel } from '../../../src/session/channels/question.ts'
import { confirm } from '../../../src/session/approvals.ts'
import { relayDialogs } from '../../../src/session/channels/dialogs.ts'
import { confirmIn, inputIn, selectIn, theirs } from '../../../src/session/dialogs/index.ts'
import { askAboutProject } from '../../../src/session/questions.ts'
import { screenOf } from './screen.ts'

const SIZES = [
  [40, 12],
  [60, 17],
  [80, 18],
  [80, 24],
  [120, 40],
] as const

const trust = { save: async () => undefined } as unknown as TrustStore
const question = (facts: readonly string[]) => ({
  path: '/work/project/.pi/mcp.toml',
  directory: '/work/project',
  content: '',
  facts,
})
const call = { toolName: 'new_trigger', input: {}, title: 'Approve?' }

describe('a question in a terminal', () => {
  it.each(SIZES)('is seen as a whole in %i by %i, options and all', async (columns, rows) => {
    const facts = Array.from({ length: 30 }, (_, n) => `server-${n} runs: ${`word-${n} `.repeat(n)}end-${n}.`)
    const { ctx, shown, relays } = screenOf(columns, rows)
    expect(await askAboutProject(ctx, [question(facts)], trust)).toEqual([])
    expect(shown.filter(({ isWhole }) => !isWhole)).toEqual([])
    const said = shown.flatMap((page) => page.said).join('\n')
    for (let n = 0; n < 30; n++) expect(said).toContain(`end-${n}.`)
    expect(shown.slice(0, -1).map(({ options }) => options)).toEqual(
      shown.slice(0, -1).map(() => ['Read on', 'Ask again next time']),
    )
    expect(shown.at(-1)?.options).toEqual(['Ask again next time', 'Use this file', 'Do not use it'])
    expect(new Set(relays)).toEqual(new Set([false]))
    for (const [n, page] of shown.slice(1).entries())
      expect(page.said.slice(0, 2).join(' ')).toContain(`(${n + 2} of ${shown.length})`)
  })

  it.each(SIZES)('shows all that a channel says of itself in %i by %i', async (columns, rows) => {
    const spec = {
      name: 'chat',
      transport: { type: 'stdio', command: 'run', args: ['x '.repeat(200), 'last.'] },
    }
    const server = {
      spec: { ...spec, source: { label: 'mcp.json' } },
      session: { status: { instructions: `${'Use reply. '.repeat(300)}The end.` } },
    } as unknown as Server
    const { ctx, shown } = screenOf(columns, rows)
    expect(await askAboutChannel(ctx, server, ['reply'], true)).toBeUndefined()
    expect(shown.filter(({ isWhole }) => !isWhole)).toEqual([])
    const said = shown.flatMap((page) => page.said).join(' ')
    expect(said).toMatch(/last\.[^]*mcp\.json[^]*The\s+end\."[^]*with: reply/)
    expect(shown.at(-1)?.options).toHaveLength(4)
  })

  it('has nothing of the project where Tapline’s own words begin', async () => {
    const own = /^ (?:Use the MCP configuration|The answer holds until the file changes\.)/
    const words = fc.constantFrom('The answer holds', 'Use', '"', '日本', 'x'.repeat(50), '- a runs: b', '│')
    const fact = fc.array(words, { minLength: 1, maxLength: 40 }).map((parts) => `a ${parts.join(' ')}`)
    await fc.assert(
      fc.asyncProperty(fc.array(fact, { maxLength: 8 }), async (facts) => {
        const { ctx, shown } = screenOf(80, 24, 'Use this file')
        expect(await askAboutProject(ctx, [question(facts)], trust)).toHaveLength(1)
        const lines = shown.flatMap(({ said }) => said)
        expect(lines.filter((line) => !/^ {3}(?:- a| {2}|│ \/work)/.test(line) && !own.test(line))).toEqual(
          [],
        )
        // Each thing begins once.
        expect(lines.filter((line) => line.startsWith('   - '))).toHaveLength(facts.length)
      }),
    )
  })

  it('that is left before its end is not asked', async () => {
    const { ctx, shown } = screenOf(80, 24, 'Not now')
    const said = { lines: ['Well?', ...theirs('word '.repeat(500))], leave: 'Not now' }
    expect(await selectIn(ctx, said, ['No', 'Yes'], {})).toBeUndefined()
    expect(await inputIn(ctx, said, undefined, {})).toBeUndefined()
    expect(shown.map(({ options }) => options)).toEqual([
      ['Read on', 'Not now'],
      ['Read on', 'Not now'],
    ])
  })

  it('is typed into below what was read', async () => {
    const { ctx, shown } = screenOf(40, 12)
    const said = { lines: ['Well?', ...theirs('word '.repeat(100))], leave: 'Not now' }
    expect(await inputIn(ctx, said, undefined, {})).toBe('typed')
    expect(shown.length).toBeGreaterThan(2)
    expect(shown.every(({ isWhole }) => isWhole)).toBe(true)
  })

  it('for a yes takes a careless Enter for a no, and may be answered by its yes', async () => {
    const message = `Action: create\nPreview: when ${'so '.repeat(600)}\nTool: x`
    for (const [columns, rows] of SIZES) {
      const careless = screenOf(columns, rows)
      expect(await confirm(relayed(careless.ctx), { ...call, message })).toBe(false)
      expect(careless.shown.every(({ isWhole }) => isWhole)).toBe(true)
      expect(careless.shown.at(-1)?.options).toEqual(['No', 'Yes'])
      const wanted = screenOf(columns, rows, 'Yes')
      expect(await confirm(relayed(wanted.ctx), { ...call, message })).toBe(true)
    }
  })

  it('is one dialog of pi, as it is, elsewhere', async () => {
    const asked: unknown[] = []
    const ui = { confirm: async (...args: unknown[]) => asked.push(args) > 0 }
    const ctx = { ui, mode: 'rpc', hasUI: true } as unknown as ExtensionContext
    const message = 'word '.repeat(1_000)
    expect(await confirmIn(ctx, 'Really?', message, { relay: false })).toBe(true)
    expect(asked).toEqual([['Really?', message, { relay: false }]])
  })
})

/** pi's dialogs as the relay of approvals leaves them. */
function relayed(ctx: ExtensionContext): ExtensionContext {
  relayDialogs(ctx, { calls: { asking: () => undefined, close: () => undefined }, channels: () => undefined })
  return ctx
}

import type { InboxEntry } from '@tapline/inbox-sink'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawPanel, type PanelState } from '../../../src/session/inbox/drawing.ts'
import { foreign as text, plain, STEERING, theme, visibleWidth } from '../screen/pi-terminal.ts'

const entry = (text: string, more: Partial<InboxEntry> = {}): InboxEntry => ({
  id: 'inb-1a2b3c4d00000000000000000000000000',
  created_at: new Date(Date.now() - 300_000).toISOString(),
  status: 'new',
  kind: 'news',
  source: 'trigger:mcp:hub',
  run_id: '',
  cwd: '',
  text,
  verified: null,
  dismiss_reason: null,
  job_id: null,
  session_id: null,
  claimed_by: null,
  verified_reason: null,
  dismissed_at: null,
  ...more,
})

const state = (listed: readonly InboxEntry[], more: Partial<PanelState> = {}): PanelState => ({
  all: false,
  view: { listed, elsewhere: 0 },
  selected: 0,
  page: 1,
  note: undefined,
  ...more,
})

const clean = text.map((raw) => raw.replaceAll(/[\p{C}\s]+/gu, ' '))

describe('the panel', () => {
  it('shows the list, the selected finding whole, and the keys', () => {
    const long = `deploy to production? ${'because of this and that '.repeat(8)}`
    const listed = [
      entry(long, { kind: 'checkpoint', cwd: '/home/ann/app' }),
      entry('build 7 failed', { source: 'cron:nightly', created_at: 'yesterday' }),
    ]
    const lines = drawPanel(state(listed, { view: { listed, elsewhere: 4 } }), theme, 80, 40).map(plain)
    expect(lines).toEqual([
      '─'.repeat(80),
      ' Inbox of this project: 2 new, 1 to decide',
      ' › ! deploy to production? because of this and that because of…   hub, 5 min ago',
      '   build 7 failed                                                   cron:nightly',
      '',
      ' deploy to production? because of this and that because of this and that',
      ' because of this and that because of this and that because of this and that',
      ' because of this and that because of this and that because of this and that',
      ' hub, 5 min ago · /home/ann/app · 1a2b3c4d',
      '',
      ' ↑↓ move · enter claim · d dismiss · c clear · tab every project · esc close',
      ' + 4 new in other projects',
      '─'.repeat(80),
    ])
  })

  it('keeps what is selected in sight', () => {
    const listed = Array.from({ length: 40 }, (_, n) => entry(`finding ${n}.`))
    for (const selected of [0, 1, 20, 38, 39]) {
      const shown = state(listed, { selected })
      const lines = drawPanel(shown, theme, 80, 30).map(plain)
      expect(lines.filter((line) => line.startsWith(' › '))).toEqual([
        expect.stringContaining(`finding ${selected}.`),
      ])
      expect(lines.filter((line) => /^ [› ] finding/.test(line))).toHaveLength(shown.page)
      expect(lines.some((line) => / to \d+ of 40$/.test(line))).toBe(true)
    }
  })

  it('leaves out what matters least where the terminal is low, and never what it asks', () => {
    const note = 'Dismiss all 40 that are listed? c again: yes. Any other key: no.'
    const long = 'because of this and that '.repeat(12)
    const listed = Array.from({ length: 40 }, (_, n) =>
      entry(`finding ${n}. ${long}`, { cwd: '/home/ann/app' }),
    )
    const drawn = (rows: number, more: Partial<PanelState> = {}): string[] =>
      drawPanel(state(listed, { selected: 7, view: { listed, elsewhere: 4 }, ...more }), theme, 80, rows).map(
        plain,
      )
    for (let rows = 9; rows <= 60; rows++) {
      for (const asked of [undefined, note]) {
        const lines = drawn(rows, { note: asked })
        // One line of the chat, and pi's footer.
        expect(lines.length).toBeLessThanOrEqual(rows - 4)
        expect(lines.filter((line) => line.startsWith(' › '))).toHaveLength(1)
        expect(lines[2] === ` ${note}`).toBe(asked !== undefined)
      }
    }
    expect(drawn(10)).toEqual([
      '─'.repeat(80),
      ' Inbox of this project: 40 new',
      expect.stringMatching(/^ {3}finding 6\./),
      expect.stringMatching(/^ › finding 7\./),
      '   7 to 8 of 40',
    ])
    expect(drawn(14).slice(-2)).toEqual([
      expect.stringMatching(/^ finding 7\. because .*…$/),
      expect.stringMatching(/^ ↑↓ move · enter claim · d dismiss · c clear/),
    ])
    expect(drawn(40).at(-2)).toBe(' + 4 new in other projects')
  })

  it('says that there is nothing', () => {
    const lines = drawPanel(state([], { all: true, note: 'Dismissed 3.' }), theme, 80, 24).map(plain)
    expect(lines.slice(1)).toEqual([
      ' Inbox of every project: nothing new',
      ' Dismissed 3.',
      '',
      ' tab this project · esc close',
      '─'.repeat(80),
    ])
  })

  it('has no line that is wider than the terminal, or two lines long, whatever it shows', () => {
    const field = fc.oneof(text, fc.constant(''))
    const any = fc
      .record({ text: field, source: field, cwd: field, created_at: field, id: field })
      .chain((fields) =>
        fc
          .record({
            kind: fc.constantFrom('news' as const, 'checkpoint' as const),
            verified: fc.constantFrom(true, null),
          })
          .map((more) => entry('', { ...fields, ...more })),
      )
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 6 }),
        fc.integer({ min: 1, max: 130 }),
        fc.nat(60),
        fc.nat(5),
        fc.option(clean, { nil: undefined }),
        (listed, width, rows, selected, note) => {
          for (const line of drawPanel(state(listed, { selected, note }), theme, width, rows)) {
            expect(visibleWidth(line)).toBeLessThanOrEqual(width)
            expect(plain(line)).not.toMatch(STEERING)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})

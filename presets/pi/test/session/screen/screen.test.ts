import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Field } from '../../../src/session/screen/field.ts'
import { hintLines } from '../../../src/session/screen/hints.ts'
import { actionOf, keyName, letterOf } from '../../../src/session/screen/keys.ts'
import { type Line, line, paint } from '../../../src/session/screen/line.ts'
import { Position } from '../../../src/session/screen/position.ts'
import { drawSheet, type Sheet } from '../../../src/session/screen/sheet.ts'
import { foreign, KEYS, piKeys, plain, STEERING, theme, visibleWidth } from './pi-terminal.ts'

const keys = piKeys()

describe('a line', () => {
  it('is cut where the terminal ends, and cannot steer it', () => {
    fc.assert(
      fc.property(fc.array(foreign, { maxLength: 4 }), fc.integer({ min: 0, max: 200 }), (texts, width) => {
        const painted = paint(
          texts.map((text) => ({ color: 'text', text, link: text })),
          theme,
          width,
        )
        expect(visibleWidth(painted)).toBeLessThanOrEqual(width)
        expect(plain(painted)).not.toMatch(STEERING)
      }),
      { numRuns: 1_000 },
    )
  })

  it('shows that something was cut, unless that was blank', () => {
    expect(plain(paint(line('text', 'something long'), theme, 10))).toBe('something…')
    expect(plain(paint(line('text', 'some        '), theme, 8))).toBe('some    ')
    const padded: Line = [
      { color: 'text', text: 'name      ' },
      { color: 'dim', text: 'rest' },
    ]
    expect(plain(paint(padded, theme, 6))).toBe('name  ')
  })

  it('links only to addresses of the web', () => {
    const linked = (link: string): string => paint([{ color: 'text', text: 'x', link }], theme, 9)
    expect(linked('https://a.example/?b=c')).toContain('\u001B]8;;https://a.example/?b=c\u001B\\')
    for (const link of ['javascript:alert(1)', 'https://a\u0007b', 'file:///etc', 'https://a b'])
      expect(linked(link)).not.toContain('\u001B]8')
  })
})

describe('a screen', () => {
  const sheet = (count: number, more: Partial<Sheet> = {}): Sheet => ({
    head: [line('accent', ' Title'), line('text', ' said')],
    rows: { count, line: (index) => line('text', ` row ${index + 1}.`) },
    at: { selected: 0 },
    mostRows: 20,
    feet: [
      [line('dim', ' long foot'), line('dim', ' second'), line('dim', ' third')],
      [line('dim', ' short')],
    ],
    ...more,
  })

  it('fits into the terminal and leaves out what matters least', () => {
    for (let height = 9; height <= 50; height++) {
      const { lines, page } = drawSheet(sheet(40), theme, 40, height)
      expect(lines.length).toBeLessThanOrEqual(height - 4)
      expect(lines.map(plain).filter((text) => text.startsWith(' row'))).toHaveLength(page)
      expect(plain(lines[1] ?? '')).toBe(' Title')
    }
    expect(drawSheet(sheet(40), theme, 40, 30).lines.map(plain)).toContain('   1 to 17 of 40')
    expect(drawSheet(sheet(2), theme, 40, 24).lines.map(plain)).toEqual([
      '─'.repeat(40),
      ' Title',
      ' said',
      ' row 1.',
      ' row 2.',
      ' long foot',
      ' second',
      ' third',
      '─'.repeat(40),
    ])
    expect(drawSheet(sheet(9, { goodRows: 9 }), theme, 40, 19).lines.map(plain)).toContain(' short')
  })

  it('keeps in sight what is selected, or begins where it is told to', () => {
    for (const selected of [0, 7, 20, 39]) {
      const { lines } = drawSheet(sheet(40, { at: { selected } }), theme, 40, 20)
      expect(lines.map(plain)).toContain(` row ${selected + 1}.`)
    }
    expect(drawSheet(sheet(40, { at: { top: 5 } }), theme, 40, 20).lines.map(plain)[3]).toBe(' row 6.')
    expect(drawSheet(sheet(40, { at: { top: Infinity } }), theme, 40, 20).lines.map(plain)).toContain(
      ' row 40.',
    )
  })
})

describe('keys', () => {
  it('mean what pi is configured to mean by them', () => {
    expect(actionOf(KEYS.escape, keys)).toBe('cancel')
    expect(actionOf(KEYS.home, keys)).toBe('home')
    expect(actionOf('x', keys)).toBeUndefined()
    const own = piKeys({ 'tui.select.down': 'j', 'tui.select.cancel': ['q', 'escape'] })
    expect(actionOf('j', own)).toBe('down')
    expect(keyName(own, 'cancel')).toBe('q')
    expect(keyName(keys, 'cancel')).toBe('esc')
  })

  it('are letters, however the terminal sends them', () => {
    expect(letterOf('d')).toBe('d')
    expect(letterOf('\u001B[100u')).toBe('d')
    expect(letterOf('\u001B[100;1:1u')).toBe('d')
    expect(letterOf('\u001B[99999999999u')).toBe(String.fromCodePoint(0x10ffff))
  })

  it('are told of in as few lines as there is room for', () => {
    const hints = [
      ['arrows', 'move'],
      ['confirm', 'open'],
      ['r', 'reconnect'],
      ['cancel', 'close'],
    ] as const
    const told = (width: number): string[] =>
      hintLines(hints, keys, width).map((spans) => spans.map(({ text }) => text).join(''))
    expect(told(80)).toEqual([' ↑↓ move · enter open · r reconnect · esc close'])
    expect(told(24)).toEqual([' ↑↓ move · enter open', ' r reconnect · esc close'])
    expect(told(5)).toHaveLength(4)
  })

  it('move within the rows there are', () => {
    const position = new Position()
    position.page = 5
    const at = (...actions: readonly ('up' | 'down' | 'pageDown' | 'pageUp' | 'home' | 'end')[]): number => {
      for (const action of actions) position.move(action, 12)
      return position.index
    }
    expect([
      at('up'),
      at('down', 'down'),
      at('pageDown'),
      at('pageDown'),
      at('pageUp'),
      at('home'),
      at('end'),
    ]).toEqual([0, 2, 7, 11, 6, 0, 11])
    position.clamp(3)
    expect(position.index).toBe(2)
    position.clamp(0)
    expect(position.index).toBe(0)
    expect(position.move('confirm', 3)).toBe(false)
  })
})

describe('a field', () => {
  const typed = (...data: readonly string[]): Field => {
    const field = new Field()
    for (const piece of data) field.take(piece, keys)
    return field
  }
  const shown = (field: Field, columns: number): string =>
    plain(paint(field.line(columns), theme, columns + 1))

  it('is edited as pi’s own are', () => {
    expect(typed('a', 'b', KEYS.left, 'x', KEYS.right, 'c').value).toBe('axbc')
    expect(typed('a', '👩‍👩‍👧', KEYS.backspace).value).toBe('a')
    expect(typed('one two', '\u0017').value).toBe('one ')
    expect(typed('one two', KEYS.home, '\u000B', 'x').value).toBe('x')
    expect(typed('one', KEYS.left, '\u0015').value).toBe('e')
    expect(typed('a', KEYS.end, 'b').value).toBe('ab')
    expect(typed('a', '\u001B[B', '\u0001').value).toBe('a')
  })

  it('takes a paste on one line, also in pieces', () => {
    expect(typed('<', '\u001B[200~http://a\r\n/b\u001B[31m\u001B[201~', '>').value).toBe('<http://a /b>')
    expect(typed('\u001B[200~on', 'e ', 'two\u001B[201~three').value).toBe('one twothree')
  })

  it('shows its end, or what is around the cursor', () => {
    const field = typed('http://127.0.0.1/callback')
    expect(shown(field, 10)).toBe('/callback ')
    field.take(KEYS.home, keys)
    expect(shown(field, 10)).toMatch(/^http:\/\/127/)
    fc.assert(
      fc.property(foreign, fc.integer({ min: 1, max: 60 }), fc.nat(20), (text, columns, back) => {
        const filled = typed(`\u001B[200~${text}\u001B[201~`, ...Array<string>(back).fill(KEYS.left))
        expect(visibleWidth(paint(filled.line(columns), theme, columns))).toBeLessThanOrEqual(columns)
        expect(filled.value).not.toMatch(STEERING)
      }),
    )
  })
})

import { createRequire, findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ExtensionAPI, ToolRenderers } from '@earendil-works/pi-coding-agent'
import { cleanLines } from '@tapline/core'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { columnsOf } from '../../src/session/screen/columns.ts'
import { drawable } from '../../src/session/rendering/words.ts'
import { renderersOf } from '../../src/session/rendering/index.ts'
import { drawServerTools } from '../../src/tool-drawing.ts'

const manifest = findPackageJSON('@earendil-works/pi-coding-agent', import.meta.url) ?? ''
// pi measures every line with this, and ends when one is too wide. It is pi's dependency, not ours.
const { visibleWidth } = createRequire(manifest)('@earendil-works/pi-tui') as {
  visibleWidth(text: string): number
}
const piFile = (path: string) => import(pathToFileURL(join(dirname(manifest), 'dist', path)).href)

type Call = Parameters<NonNullable<ToolRenderers['renderCall']>>
type Result = Parameters<NonNullable<ToolRenderers['renderResult']>>

/** A theme that colours everything, each colour in its own way. */
const theme = {
  fg: (color: string, text: string) => `\u001B[3${color.length % 8}m${text}\u001B[39m`,
  bold: (text: string) => `\u001B[1m${text}\u001B[22m`,
} as unknown as Call[1]

const hints = {
  keyText: () => 'ctrl+o',
  keyHint: (_key: string, description: string) =>
    `${theme.fg('dim', 'ctrl+o')}${theme.fg('muted', ` ${description}`)}`,
}

interface Drawing {
  readonly args?: unknown
  readonly content?: readonly object[]
  readonly details?: object
  readonly expanded?: boolean
  readonly isError?: boolean
}

/** What is drawn of a call with its result, as pi asks for it. */
function drawn(renderers: ToolRenderers, drawing: Drawing, width: number): readonly string[] {
  const { args = {}, content, details, expanded = false, isError = false } = drawing
  const context = { ...hints, expanded, isError, showImages: true, lastComponent: undefined }
  const call = renderers.renderCall?.(args, theme, context as unknown as Call[2]).render(width) ?? []
  if (content === undefined) return call
  const result = renderers.renderResult?.(
    { content, details } as unknown as Result[0],
    { expanded, isPartial: false },
    theme,
    context as unknown as Result[3],
  )
  return [...call, ...(result?.render(width) ?? [])]
}

// oxlint-disable-next-line no-control-regex -- colours are what this removes.
const plain = (line: string): string => line.replaceAll(/\u001B\[\d+m/g, '').trimEnd()
const ours = (drawing: Drawing, width = 80) => drawn(renderersOf('docs/search'), drawing, width).map(plain)
const said = (text: string) => [{ type: 'text', text }]

/** Text of every script, wide and narrow, with emoji, marks, joiners, and what steers terminals. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.lorem({ maxCount: 60 }),
  fc
    .array(
      fc.constantFrom(
        '日本',
        'é',
        '👩‍👩‍👧',
        '🇩🇪',
        'ก็',
        'ﷺ',
        '1️⃣',
        'क्षि',
        ' ',
        '\t',
        '\n',
        '\r\n',
        'a'.repeat(90),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
  fc
    .array(
      fc.constantFrom('\u001B[2J', '\u001B]0;x\u0007', '\u009B31m', '\u202E', '\u0007', '\u200B', 'b '),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join('')),
)

describe('a call of a server’s tool', () => {
  it('has its arguments behind the title, cut, and each on lines of its own when it is expanded', () => {
    const args = { query: 'two\nlines', limit: 3, filter: { a: [1] } }
    expect(ours({ args })).toEqual(['docs/search query="two\\nlines" limit=3 filter={"a":[1]}'])
    expect(ours({ args, expanded: true })).toEqual([
      'docs/search',
      '  query: two',
      '    lines',
      '  limit: 3',
      '  filter: {',
      '      "a": [',
      '        1',
      '      ]',
      '    }',
    ])
    const [line, more] = ours({ args: { text: 'x'.repeat(500) } }, 200)
    expect(line).toBe(`docs/search text="${'x'.repeat(91)}...`)
    expect(more).toBeUndefined()
    for (const none of [{}, null, undefined]) expect(ours({ args: none })).toEqual(['docs/search'])
    expect(ours({ args: [1, 2] })).toEqual(['docs/search args=[1,2]'])
  })

  it('shows five lines of its result as the terminal breaks them, and all of them when it is expanded', () => {
    const long = said(JSON.stringify({ rows: Array.from({ length: 40 }, (_, index) => `row ${index}`) }))
    const folded = ours({ content: long }, 40)
    expect(folded).toHaveLength(1 + 1 + 5 + 1)
    expect(folded.at(-1)).toMatch(/^\.\.\. \(\d+ more lines, ctrl\+o to expand\)$/)
    expect(ours({ content: long }, 30).at(-1)).toMatch(/^\.\.\. \(\d+ more lines, ctrl\+.*…$/)
    const all = ours({ content: long, expanded: true }, 40)
    expect(all.length).toBeGreaterThan(8)
    expect(all.slice(2).join('').replaceAll(' ', '')).toBe(long[0]!.text.replaceAll(' ', ''))
    expect(ours({ content: said('one\ntwo') })).toEqual(['docs/search', '', 'one', 'two'])
    expect(ours({ content: said(' \n ') })).toEqual(['docs/search'])
  })

  it('says where the whole of a result is, until it is expanded and says so itself', () => {
    const result = { content: said('cut'), details: { fullOutputPath: '/tmp/mcp-1.txt' } }
    expect(ours(result)).toEqual(['docs/search', '', 'cut', 'Full output: /tmp/mcp-1.txt'])
    expect(ours({ ...result, expanded: true })).toEqual(['docs/search', '', 'cut'])
    expect(ours({ ...result, details: { fullOutputPath: 7 } })).toEqual(['docs/search', '', 'cut'])
  })

  it('colours an error as one', () => {
    const draw = (isError: boolean) => drawn(renderersOf('x/y'), { content: said('no'), isError }, 80).at(-1)
    expect(draw(true)).toBe(theme.fg('error', 'no'))
    expect(draw(false)).toBe(theme.fg('toolOutput', 'no'))
  })

  it('names its images with their sizes', () => {
    const image = (mimeType: string, bytes: readonly number[]) => ({
      type: 'image',
      mimeType,
      data: Buffer.from(bytes).toString('base64'),
    })
    const png = [0x89, 0x50, 0x4e, 0x47, ...Array(12).fill(0), 0, 0, 2, 0x80, 0, 0, 1, 0xe0]
    const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc2, 0, 11, 8, 0, 30, 0, 40, 0, 0, 0]
    const gif = [...Buffer.from('GIF89a'), 7, 0, 9, 0, 0]
    expect(
      ours({
        content: [
          image('image/png', png),
          ...said('between'),
          image('image/jpeg', jpeg),
          image('image/gif', gif),
          image('image/png', [1, 2]),
          image('image/\u001B[31mwebp\n', []),
        ],
      }).slice(2, 7),
    ).toEqual([
      'between',
      '[Image: [image/png] 640x480]',
      '[Image: [image/jpeg] 40x30]',
      '[Image: [image/gif] 7x9]',
      '[Image: [image/png]]',
    ])
  })

  it('steers no terminal and fits it, whatever the server and the model say', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.boolean(),
        fc.integer({ min: 1, max: 130 }),
        (words, more, expanded, width) => {
          const args = { [more.slice(0, 20)]: words, other: [more] }
          const content = [
            ...said(words),
            { type: 'image', data: more, mimeType: words.slice(0, 40) },
            ...said(more),
          ]
          const lines = drawn(
            renderersOf(words.slice(0, 30)),
            { args, content, expanded, details: { fullOutputPath: more } },
            width,
          )
          for (const line of lines) {
            expect(visibleWidth(line)).toBeLessThanOrEqual(width)
            expect(plain(line)).not.toMatch(
              /[\p{Cc}\p{Zl}\p{Zp}\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/u,
            )
            expect(columnsOf(plain(line))).toBeLessThanOrEqual(width)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('leaves nothing that core would take out', () => {
    for (let first = 0; first < 0x11_00_00; first += 0x10_00) {
      const signs = Array.from({ length: 0x10_00 }, (_, index) => String.fromCodePoint(first + index)).join(
        'a',
      )
      expect(cleanLines(drawable(signs))).toBe(drawable(signs))
    }
    fc.assert(fc.property(text, (words) => cleanLines(drawable(words)) === drawable(words)))
    expect(drawable('\u001B[1mkept\u001B[0m\tin place')).toBe('kept   in place')
  })

  it('takes no time for hostile text', () => {
    const hostile = [
      '\u001B]'.repeat(40_000),
      '\u001B['.repeat(40_000),
      'a'.repeat(80_000),
      ' \t'.repeat(40_000),
    ]
    const start = performance.now()
    for (const words of hostile) ours({ content: said(words), args: { words } })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it('keeps its lines until the width or what they are made of changes', () => {
    let drawnLines = 0
    const counting = {
      fg: (color: string, text: string) => {
        drawnLines += 1
        return `${color} ${text}`
      },
    }
    const context = {
      ...hints,
      expanded: true,
      isError: false,
      lastComponent: undefined,
    } as unknown as Result[3]
    const draw = (words: string, lastComponent?: ReturnType<NonNullable<ToolRenderers['renderResult']>>) =>
      renderersOf('x/y').renderResult(
        { content: said(words), details: undefined } as unknown as Result[0],
        { expanded: true, isPartial: false },
        counting as unknown as Call[1],
        { ...context, lastComponent },
      )
    const component = draw('once')
    component.render(80)
    const first = drawnLines
    expect(component.render(80)).toBe(component.render(80))
    expect(drawnLines).toBe(first)
    component.render(40)
    component.invalidate()
    component.render(40)
    expect(drawnLines).toBe(3 * first)
    expect(draw('twice', component)).toBe(component)
    expect(component.render(40)).toEqual(['', 'toolOutput twice'])
  })
})

describe('beside pi’s own support', () => {
  let theirs: ToolRenderers
  beforeAll(async () => {
    ;(await piFile('index.js')).initTheme('dark')
    theirs = (await piFile('extensions/mcp/tools.js')).createMcpToolRenderers('docs/search')
  })

  it('everything stands in the same place', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', '{', '}', ':', '"', ',', '0', '-', '/'),
      minLength: 1,
      maxLength: 40,
    })
    const line = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
    const lines = fc.array(line, { maxLength: 12 }).map((all) => all.join('\n'))
    fc.assert(
      fc.property(
        lines,
        fc.dictionary(word, fc.oneof(lines, fc.integer(), fc.array(line), fc.constant(null))),
        fc.record({ expanded: fc.boolean(), isError: fc.boolean(), whole: fc.boolean() }),
        fc.integer({ min: 20, max: 120 }),
        (words, args, { expanded, isError, whole }, width) => {
          const drawing = {
            args,
            content: said(words),
            expanded,
            isError,
            ...(whole ? { details: { fullOutputPath: '/tmp/mcp-1.txt' } } : {}),
          }
          // A hint that is too wide ends in three points there, and a coloured word that is too long begins after an
          // empty line.
          const same = (renderers: ToolRenderers) =>
            drawn(renderers, drawing, width)
              .map(plain)
              .filter((shown) => shown !== '')
              .map((shown) => shown.replace(/(?<=^\.\.\. \(\d+) more.*/, ''))
          expect(same(renderersOf('docs/search'))).toEqual(same(theirs))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('which calls are drawn so', () => {
  type Resolver = (name: string, next: () => object | undefined) => ToolRenderers | undefined
  interface Drawing {
    readonly resolve: Resolver
    /** Starts a session with these entries, as pi does before it draws them. */
    start(mode: string, entries?: readonly object[]): Promise<void>
  }
  const drawing = (): Drawing => {
    let resolve: Resolver | undefined
    let started: ((event: object, ctx: object) => Promise<void> | undefined) | undefined
    drawServerTools({
      registerToolRenderer: (given: unknown) => (resolve = given as Resolver),
      on: (_name: string, handler: unknown) => (started = handler as typeof started),
    } as unknown as ExtensionAPI)
    return {
      resolve: resolve!,
      start: async (mode, entries = []) =>
        started!({}, { mode, sessionManager: { getEntries: () => entries } }),
    }
  }
  const called = (toolName: string) => ({ type: 'message', message: { role: 'toolResult', toolName } })
  const loaded = async (): Promise<Resolver> => {
    const { resolve, start } = drawing()
    await start('tui', [called('mcp__docs__search')])
    return resolve
  }
  const titleIn = (renderers: ToolRenderers | undefined) =>
    renderers?.renderCall ? drawn(renderers, {}, 80).map(plain)[0] : undefined

  it('are those of servers, under their labels, and those that read resources', async () => {
    const resolve = await loaded()
    const registered = { label: 'my-docs/Search it', namespace: { name: 'mcp__my_docs' } }
    expect(titleIn(resolve('mcp__my_docs__Search_it', () => registered))).toBe('my-docs/Search it')
    expect(titleIn(resolve('search', () => registered))).toBe('my-docs/Search it')
    expect(titleIn(resolve('read_mcp_resource', () => undefined))).toBe('read_mcp_resource')
  })

  it('are those of servers that are not there yet, by their names', async () => {
    const resolve = await loaded()
    expect(titleIn(resolve('mcp__my_docs__search__it', () => undefined))).toBe('my_docs/search__it')
    expect(titleIn(resolve('mcp__docs', () => undefined))).toBeUndefined()
    expect(titleIn(resolve('read', () => undefined))).toBeUndefined()
  })

  it('are none that draw themselves, or are nobody’s server’s', async () => {
    const resolve = await loaded()
    const own = { renderCall: () => ({ render: () => [] }), namespace: { name: 'mcp__x' }, label: 'x/y' }
    expect(resolve('mcp__x__y', () => own)).toBe(own)
    const other = { label: 'Mine' }
    expect(resolve('mcp__mine__tool', () => other)).toBe(other)
  })

  it('are left to pi until there is something to draw them with, then drawn again', async () => {
    for (const [mode, entries] of [
      ['tui', [called('read'), { type: 'session_info' }]],
      ['rpc', [called('mcp__docs__search')]],
    ] as const) {
      const { resolve, start } = drawing()
      await start(mode, entries)
      const renderers = resolve('mcp__docs__search', () => undefined)
      const { promise, resolve: invalidate } = Promise.withResolvers<void>()
      const context = {
        ...hints,
        invalidate,
        expanded: false,
        lastComponent: undefined,
      } as unknown as Call[2]
      expect(() => renderers?.renderCall?.({}, theme, context)).toThrow('not loaded yet')
      await promise
      expect(titleIn(renderers)).toBe('docs/search')
    }
  })
})

import type { CallToolResult, ContentBlock, ServerSpec } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitContent, type ModelResult, toModelResult } from '../src/index.ts'
import { toolSpec } from './support.ts'

const TOML: Partial<ServerSpec> = {
  dialect: 'mcp.toml',
  results: { maxBytes: 64 * 1024, overflow: 'temporary-file' },
}
const UNIPI: Partial<ServerSpec> = {
  dialect: 'unipi',
  results: { maxBytes: 64 * 1024, overflow: 'artifact' },
}

/** A result as the model gets it, and what was saved on the way. */
async function given(
  result: Partial<CallToolResult> & { readonly content?: unknown },
  server: Partial<ServerSpec> = TOML,
) {
  const saved: { readonly extension: string; readonly data: string | Uint8Array }[] = []
  const saveFile = async (data: string | Uint8Array, extension: string) =>
    `/saved/${saved.push({ extension, data })}${extension}`
  const model = await toModelResult({ content: [], ...result }, toolSpec(server), {
    saveFile,
  })
  return { ...model, saved, text: textOf(model) }
}
const textOf = ({ content }: Pick<ModelResult, 'content'>) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
const text = (value: string): ContentBlock => ({ type: 'text', text: value })
const png = `iVBORw0KGgo${'A'.repeat(9)}`

describe('blocks', () => {
  it.each<[string, unknown, string]>([
    ['text', text('hello'), 'hello'],
    ['an embedded text', { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }, 'inside'],
    [
      'an embedded text as bytes',
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/csv', blob: btoa('a,b') } },
      'a,b',
    ],
    [
      'bytes',
      { type: 'resource', resource: { uri: 'file:///a.pdf', blob: btoa('1234') } },
      '[Binary resource file:///a.pdf (unknown type, 4B) saved to /saved/1.pdf]',
    ],
    [
      'audio',
      { type: 'audio', data: btoa('1234'), mimeType: 'audio/wav' },
      '[Audio (audio/wav, 4B) saved to /saved/1.wav]',
    ],
    [
      'a link',
      { type: 'resource_link', uri: 'file:///a', name: 'A', size: 2_048, mimeType: 'text/plain' },
      '[Resource file:///a "A" (text/plain, 2.0KB)]',
    ],
    ['what nobody knows yet', { type: 'video' }, '[unsupported MCP content video]'],
    [
      'an image that models do not take',
      { type: 'image', data: btoa('<svg/>'), mimeType: 'image/svg+xml' },
      '[Image (image/svg+xml, 6B) not shown: models do not take images of this type. Saved to /saved/1.svg]',
    ],
    [
      'an image that is none',
      { type: 'image', data: '!!', mimeType: 'image/png' },
      '[Image (image/png) not shown: it is not valid base64]',
    ],
    ['nothing', undefined, '(no content)'],
    ['half a character', text('a\uD800'), 'a\uFFFD'],
    ['escape sequences', text('\u001B[31mred\u0000'), '\u001B[31mred\u0000'],
    ['text without text', { type: 'text' }, '[text without text]'],
    ['a resource without anything', { type: 'resource' }, '[resource  without content]'],
    ['no block at all', 7, '[unsupported MCP content]'],
  ])('%s', async (_what, block, expected) => {
    const result = await given({ content: (block === undefined ? [] : [block]) as ContentBlock[] })
    expect(result.text).toBe(expected)
  })

  it('names of servers’ things come without control characters', async () => {
    const { text: shown } = await given({
      content: [{ type: 'resource_link', uri: 'x:\u001B[2J', name: 'a\n]\u202E' }],
    })
    expect(shown).toBe('[Resource x: "a ]"]')
  })

  it('survives whatever a server sends', async () => {
    const type = fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'x')
    const key = fc.constantFrom('text', 'data', 'mimeType', 'uri', 'name', 'size', 'resource', 'title')
    const block = fc
      .tuple(type, fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })))
      .map(([name, rest]) => ({ ...rest, type: name }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(block, fc.jsonValue()), { maxLength: 5 }),
        fc.constantFrom(TOML, UNIPI, {}),
        async (content, server) => {
          const result = await given({ content: content as unknown as ContentBlock[] }, server)
          for (const shown of result.content)
            expect(shown.type === 'text' ? shown.text : shown.data).toBeTypeOf('string')
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('images', () => {
  const image = (data: string, mimeType: unknown = 'image/png') =>
    ({ type: 'image', data, mimeType }) as ContentBlock

  it.each([
    ['as it is', image(png), 'image/png'],
    ['by what its bytes say', image(png, 'image/jpeg'), 'image/png'],
    ['by its right name', image('AAAA', 'image/JPG; q=1'), 'image/jpeg'],
    ['as PNG when it says nothing', image('AAAA', undefined), 'image/png'],
    ['without what browsers put around it', image(`data:image/png;base64,${png}\n`), 'image/png'],
  ])('are shown %s', async (_what, block, mimeType) => {
    const { content } = await given({ content: [block] })
    expect(content).toEqual([
      { type: 'image', mimeType, data: expect.stringMatching(/^(AAAA|iVBORw0KGgoA+)$/) },
    ])
  })

  it('do not count as text', async () => {
    const { content, text: shown } = await given({
      content: [text('x'.repeat(100_000)), image(png + 'A'.repeat(400_000))],
    })
    expect(content).toHaveLength(2)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(64 * 1024)
  })

  it('are saved when one is larger, or all are more, than models take', async () => {
    const large = await given({ content: [image('A'.repeat(5 * 1024 * 1024))] })
    expect(large.text).toBe(
      '[Image (image/png, 3.8MB) not shown: it is larger than models take. Saved to /saved/1.png]',
    )
    const many = await given({ content: Array.from({ length: 30 }, () => image(png)) })
    expect(many.content.filter((block) => block.type === 'image')).toHaveLength(20)
    expect(many.saved).toHaveLength(10)
  })

  it('are named by their type, and never written, for unipi', async () => {
    const shown = await given({ content: [image(png)] }, UNIPI)
    expect(shown.content).toEqual([
      { type: 'text', text: '[Image: image/png]' },
      { type: 'image', data: png, mimeType: 'image/png' },
    ])
    const svg = await given({ content: [image('AAAA', 'image/svg+xml')] }, UNIPI)
    expect(svg.text).toBe('[Image (image/svg+xml, 3B) not shown: models do not take images of this type]')
    expect(svg.saved).toEqual([])
  })
})

describe('structured content', () => {
  const structured = { b: [1, 2], a: 'x' }
  it.each<[string, unknown, readonly string[], boolean]>([
    ['alone', structured, [], true],
    ['mirrored', structured, ['{"a":"x","b":[1,2]}'], false],
    ['mirrored with spaces', structured, ['see:', JSON.stringify(structured, null, 4)], false],
    ['beside other words', structured, ['Found 2.'], true],
    ['beside other JSON', structured, ['{"a":"x"}'], true],
    ['a text', 'hello', ['hello'], false],
    ['a number', 7, ['7'], false],
    ['false', false, ['no'], true],
    ['wrapped by the Python SDK', { result: 'hello' }, ['hello'], false],
    ['wrapped, with an item in each block', { result: [{ a: 1 }, 'b'] }, ['{"a":1}', 'b'], false],
    ['wrapped, with less in the blocks', { result: [1, 2] }, ['1'], true],
  ])('%s', async (_what, structuredContent, texts, shown) => {
    const { content, full } = await given({ structuredContent, content: texts.map(text) })
    const added = content
      .slice(texts.length)
      .map((block) => (block.type === 'text' ? JSON.parse(block.text) : block))
    expect(added).toEqual(shown ? [structuredContent] : [])
    expect(full.structuredContent).toBe(structuredContent)
  })

  it('is for scripts when pi would not show it', async () => {
    expect((await given({ structuredContent: structured, content: [text('Found 2.')] }, {})).text).toBe(
      'Found 2.',
    )
  })
})

describe('errors', () => {
  it('are said with the server’s own words, or with ours', async () => {
    expect(await given({ isError: true, content: [text('no such page')] })).toMatchObject({
      isError: true,
      text: 'no such page',
    })
    expect(await given({ isError: true })).toMatchObject({
      isError: true,
      text: 'MCP tool docs/search returned an error',
    })
    expect(
      await given({ isError: true, content: [{ type: 'image', data: png, mimeType: 'image/png' }] }),
    ).toMatchObject({
      text: 'MCP tool docs/search returned an error',
      content: [{ type: 'image' }, { type: 'text' }],
    })
    expect((await given({})).isError).toBe(false)
  })
})

describe('the limit', () => {
  it('gives scripts the whole result, without _meta', async () => {
    const content = [text('x'.repeat(100_000))]
    const { full } = await given({ content, _meta: { a: 1 }, isError: false })
    expect(full).toEqual({ content, isError: false })
    expect(full.content).toBe(content)
  })

  it('saves the whole text and names the file, also in the details', async () => {
    const long = `start${'é'.repeat(50_000)}end`
    const { text: shown, details, saved } = await given({ content: [text(long)] }, UNIPI)
    expect(saved).toEqual([{ data: long, extension: '.txt' }])
    expect(details).toEqual({ server: 'docs', tool: 'search', fullOutputPath: '/saved/1.txt' })
    expect(shown).toMatch(
      /^Warning: truncated output[^]*\n\nstarté+…\d+ chars truncated…é+end\n\n\[Full output: \/saved\/1\.txt \(read it with offset\/limit\)\]$/,
    )
  })

  it('says that the whole was not kept when it could not be', async () => {
    const model = await toModelResult({ content: [text('x'.repeat(100_000))] }, toolSpec(UNIPI), {
      saveFile: () => Promise.reject(new Error('disk full')),
    })
    expect(textOf(model)).toMatch(/\[Could not save the full output: disk full\]$/)
  })

  it('makes one block of very many', async () => {
    const { content } = await given({ content: Array.from({ length: 5_000 }, () => text('')) })
    expect(content).toHaveLength(1)
  })

  it('is never exceeded, and cuts between characters only', async () => {
    const saveFile = async () => '/saved/file.txt'
    const unit = fc.constantFrom('a', 'é', '€', '👩‍🚀', '\n', '𐍈')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit, maxLength: 400 }), { maxLength: 5 }),
        fc.integer({ min: 0, max: 1_200 }),
        async (texts, maxBytes) => {
          const content = texts.map((value) => ({ type: 'text' as const, text: value }))
          const whole = texts.join('\n')
          const { content: limited, fullOutputPath } = await limitContent(content, {
            maxBytes,
            hard: true,
            saveFile,
          })
          const shown = textOf({ content: limited })
          expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maxBytes)
          expect(shown.isWellFormed() && !shown.includes('\uFFFD')).toBe(true)
          expect(fullOutputPath !== undefined || shown === whole).toBe(true)

          const soft = textOf(await limitContent(content, { maxBytes, hard: false, saveFile }))
          expect(soft.isWellFormed() && !soft.includes('\uFFFD')).toBe(true)
          const [, head = '', , tail = ''] =
            /\n\n([^]*)…(\d+) chars truncated…([^]*)\n\n\[Full/.exec(soft) ?? []
          expect(soft === whole || (whole.startsWith(head) && whole.endsWith(tail))).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })
})

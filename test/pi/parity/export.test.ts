import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSide } from './side.ts'

interface Drawn {
  readonly callHtml?: string
  readonly resultHtmlCollapsed?: string
  readonly resultHtmlExpanded?: string
}

/** How an exported page draws the calls, by part; blanks have no colour, and lines no end. */
function drawnIn(page: string): readonly (readonly string[])[] {
  const data = /<script id="session-data"[^>]*>([^]*?)<\/script>/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
  const { renderedTools } = JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as {
    renderedTools: Readonly<Record<string, Drawn>>
  }
  return Object.values(renderedTools).map((drawn) =>
    [drawn.callHtml, drawn.resultHtmlCollapsed, drawn.resultHtmlExpanded].map((html = '') =>
      html.replaceAll(/(<span [^>]*>) /g, ' $1').replaceAll(/ +(?=<)/g, ''),
    ),
  )
}

describe('a page that a session is exported to', () => {
  it('draws the calls of servers’ tools as under pi’s own support', async () => {
    const [theirs, ours] = await Promise.all(
      (['pi', 'tapline'] as const).map(async (under) => {
        await using side = await openSide(under, { entries: { 'my-docs': { exposure: 'direct' } } })
        for (const tool of ['transition_issue', 'fails', 'pictures', 'counts'])
          await side.call(`mcp__my_docs__${tool}`, { id: '7', list: [1, 2] })
        const page = path.join(side.stage.scratch.root, 'session.html')
        expect((await side.pi.send('export_html', { outputPath: page })).success).toBe(true)
        return drawnIn(page)
      }),
    )
    expect(JSON.stringify(theirs)).toContain('my-docs/transition_issue')
    expect(ours).toEqual(theirs)
  })
})

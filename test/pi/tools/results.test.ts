import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { callTool, connected, createStage, misbehaving, toolAnswer, toolMessages } from '../stage.ts'

describe('tools in the real pi', () => {
  it('are called by the model over stdio and HTTP, by the names of their dialects', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    stage.toml({ plain: misbehaving(), 'web-two': { kind: 'streamable_http', endpoint: http.url } })
    stage.json({
      'pi-like': { ...misbehaving(), exposure: 'direct' },
      web: { url: http.url, exposure: 'direct' },
    })
    const pi = await stage.start()
    await connected(pi, 'plain', 'web-two', 'pi-like', 'web')

    // Both servers of mcp.toml have an `echo`: the first one keeps the name, the second is prefixed.
    const text = 'Grüße, "quoted" \\ and 🐎\nin two lines'
    for (const name of ['echo', 'web-two_echo', 'mcp__pi_like__echo', 'mcp__web__echo']) {
      const request = await callTool(stage, pi, name, { text })
      expect(toolNames(request)).toContain(name)
      expect([name, toolAnswer(request)]).toEqual([name, text])
    }
    const log = await http.log()
    expect(
      log.filter(({ body }) => body?.method === 'tools/call').map(({ body }) => body.params.arguments),
    ).toEqual([{ text }, { text }])
    expect(pi.stderr).toBe('')
    expect(pi.noise).toEqual([])
  })

  it('answer with every kind of content, each once', async () => {
    await using stage = await createStage()
    stage.toml({ plain: misbehaving() })
    const pi = await stage.start({ models: seeingModel(stage.model.url) })
    await connected(pi, 'plain')

    const media = await callTool(stage, pi, 'media')
    const answer = toolAnswer(media)
    for (const text of [
      'Text, then the rest.',
      'An embedded text.',
      'fixture://linked',
      'A linked resource.',
    ])
      expect(answer.split(text)).toHaveLength(2)
    const [file = ''] = /\S+\.wav/.exec(answer) ?? []
    expect(readFileSync(file).subarray(0, 4).toString()).toBe('RIFF')
    // The image and the embedded image, as images and not as text.
    expect(media.raw.match(/data:image\/png;base64,/g)).toHaveLength(2)
    expect(answer).not.toContain('iVBOR')

    const structured = await callTool(stage, pi, 'structured', { value: 41 })
    expect(toolAnswer(structured)).toBe('{"value":41}')
  })

  it('say that they failed, as a tool or as a request, and nothing else suffers', async () => {
    await using stage = await createStage()
    stage.toml({ plain: misbehaving() })
    const pi = await stage.start()
    await connected(pi, 'plain')
    stage.model.script([
      {
        toolCalls: [
          { name: 'slow', args: { ms: 1500 } },
          { name: 'bad' },
          { name: 'fail' },
          { name: 'echo', args: { text: 'unharmed' } },
        ],
      },
    ])
    await pi.prompt('All at once.')
    const answers = toolMessages(stage.model.requests().at(-1)!).map(({ content }) => content)
    expect(answers).toEqual([
      'slept 1500 ms',
      expect.stringMatching(/-32602: These arguments never please\.$/),
      'This tool always fails.',
      'unharmed',
    ])
    const ends = pi.events.filter(({ type }) => type === 'tool_execution_end')
    expect(ends.map(({ toolName, isError }) => [toolName, isError])).toEqual([
      ['bad', true],
      ['fail', true],
      ['echo', false],
      ['slow', false],
    ])
  })

  it('are cut when they answer too much, with the whole in a file', async () => {
    await using stage = await createStage()
    stage.toml({ plain: misbehaving() })
    stage.json({ like: { ...misbehaving(), toolExposure: { 'b*': 'direct' } } })
    const pi = await stage.start()
    await connected(pi, 'plain', 'like')
    for (const [name, limit] of [
      ['big', 65_536],
      ['mcp__like__big', 20 * 1024],
    ] as const) {
      const answer = toolAnswer(await callTool(stage, pi, name, { bytes: 300_000 }))
      expect(answer.length).toBeLessThan(limit + 500)
      expect(answer.length).toBeGreaterThan(limit - 2_000)
      expect(answer).toMatch(/truncated/)
      const [file = ''] = /\/\S+\.txt/.exec(answer) ?? []
      expect(readFileSync(file, 'utf8')).toBe('x'.repeat(300_000))
    }
    const script = `const r = await tools.mcp__like__big({ bytes: 300000 }); return r.content[0].text.length`
    expect(toolAnswer(await callTool(stage, pi, 'codemode', { code: script }))).toMatch(/\n300000$/)
  })
})

/** A model that takes images, in place of the driver's. */
function seeingModel(baseUrl: string): Record<string, unknown> {
  const model = { id: 'fake-1', contextWindow: 128_000, maxTokens: 4096, input: ['text', 'image'] }
  return { fake: { api: 'openai-completions', apiKey: 'sk-not-real', baseUrl, models: [model] } }
}

import { rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ReceivedRequest, toolNames } from '../../drivers/chat.ts'
import {
  connected,
  createStage,
  gated,
  misbehaving,
  noticed,
  serversShow,
  type Stage,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'

const MANY = 1_000
/** What the server has besides. */
const OTHERS = 14

/** Tells when a part of the tools is registered, and does something then. */
const PARTLY = (what = '') => `
  pi.registerCommand('again', { handler: async (_args, ctx) => void (await ctx.reload()) })
  let timer
  pi.on('session_shutdown', () => clearInterval(timer))
  pi.on('session_start', (event, ctx) => {
    if (event.reason !== 'startup') return
    timer = setInterval(() => {
      const some = pi.getAllTools().filter(({ name }) => name.startsWith('mcp__many__')).length
      if (some === 0) return
      clearInterval(timer)
      ctx.ui.notify(\`\${some} tools\`, 'info')
      ${what}
    }, 1)
  })`

/** How many of the server's tools a request declares. */
const declared = (request: ReceivedRequest) =>
  toolNames(request).filter((name) => name.startsWith('mcp__many__')).length

function manyTools(stage: Stage, exposure: string) {
  const gate = path.join(stage.scratch.root, 'gate')
  stage.scratch.write('gate', '')
  stage.json({ many: { ...gated(gate, misbehaving('--tools', String(MANY))), exposure } })
  return { shut: () => rmSync(gate), open: () => void stage.scratch.write('gate', '') }
}

describe('a thousand direct tools', () => {
  it('are all declared to a prompt that comes at once, and the same to the byte when they are known', async () => {
    await using stage = await createStage()
    const { shut } = manyTools(stage, 'direct')
    const cold = await stage.start()
    await cold.prompt('At once.')
    const [first] = stage.model.requests()
    expect(declared(first!)).toBe(MANY + OTHERS)
    expect(toolNames(first!).filter((name) => name.startsWith('mcp__many__tool_'))).toEqual(
      Array.from({ length: MANY }, (_, n) => `mcp__many__tool_${n}`).sort(),
    )
    await cold.close()

    shut()
    stage.model.reset()
    const warm = await stage.start()
    await warm.prompt('At once.')
    expect(toolsOf(stage.model.requests()[0]!)).toBe(toolsOf(first!))
    await serversShow(warm, /many: connecting…/)
    expect(warm.stderr).toBe('')
  })

  it('are registered piece by piece, and a change meanwhile comes after them', async () => {
    await using stage = await createStage()
    manyTools(stage, 'direct')
    const extra = JSON.stringify(misbehaving('--name', 'extra'))
    const partly = stage.extension('partly', PARTLY(`pi.registerMcpServer('extra', ${extra})`))
    const pi = await stage.start({ extensions: [TAPLINE, partly] })
    await pi.prompt('At once.')
    // Others had their turn when a part of them was there.
    expect(Number.parseInt(await noticed(pi, /^\d+ tools$/))).toBeLessThan(MANY)
    expect(declared(stage.model.requests()[0]!)).toBe(MANY + OTHERS)
    await connected(pi, 'many', 'extra')
    const code = 'return (await tools.mcp__extra__echo({ text: "as well" })).content[0].text'
    stage.model.script([{ toolCalls: [{ name: 'codemode', args: { code } }] }])
    await pi.prompt('Go on.')
    const last = stage.model.requests().at(-1)!
    expect(toolAnswer(last)).toMatch(/\nas well$/)
    expect(declared(last)).toBe(MANY + OTHERS)
    expect(toolNames(last).filter((name) => name.startsWith('mcp__many__'))).toEqual(
      toolNames(stage.model.requests()[0]!).filter((name) => name.startsWith('mcp__many__')),
    )
  })

  it('are gone when their server is disabled while they are registered', async () => {
    await using stage = await createStage()
    manyTools(stage, 'direct')
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('partly', PARTLY())] })
    await noticed(pi, /^\d+ tools$/)
    expect(await pi.command('/mcp disable many')).toEqual([expect.stringContaining('many: disabled')])
    await pi.prompt('What is there?')
    expect(declared(stage.model.requests()[0]!)).toBe(0)
  })

  it('are all there after a /reload that comes while they are registered', async () => {
    await using stage = await createStage()
    manyTools(stage, 'direct')
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('partly', PARTLY())] })
    await noticed(pi, /^\d+ tools$/)
    await pi.command('/again')
    await pi.prompt('And now?')
    expect(declared(stage.model.requests()[0]!)).toBe(MANY + OTHERS)
    expect(pi.stderr).toBe('')
    expect(pi.notices().join('\n')).not.toMatch(/stale|registered/)
  })
})

describe('a thousand tools that scripts reach', () => {
  it('hold no prompt up, and a script waits until they are there', async () => {
    await using stage = await createStage()
    const { shut, open } = manyTools(stage, 'codemode')
    shut()
    const pi = await stage.start()
    const last = `mcp__many__tool_${MANY - 1}`
    const code = `return (await tools.${last}({ value: 'found' })).content[0].text`
    stage.model.script([{ toolCalls: [{ name: 'codemode', args: { code } }] }])
    const answered = pi.prompt('At once.')
    await stage.model.waitForRequest()
    await serversShow(pi, /many: connecting…/)
    open()
    await answered
    expect(toolAnswer(stage.model.requests().at(-1)!)).toMatch(new RegExp(`\\ntool_${MANY - 1} found$`))
  })
})

/** The bytes of the tools in a request. */
function toolsOf({ raw, body }: ReceivedRequest): string {
  const tools = JSON.stringify(body.tools)
  if (!raw.includes(tools)) throw new Error('The tools were not sent in the form compared.')
  return tools
}

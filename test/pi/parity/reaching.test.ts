import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import { createStage, gated, noticed } from '../stage.ts'
import { openSide, registered, SCRIPT, type Side, type SideOptions, type Under } from './side.ts'

const TOOLS = SCRIPT['tools/list'][''].tools.length
const LOADED = 'mcp__def__transition_issue'

/** The same under both; what each answers is compared. */
async function both<T>(
  options: SideOptions | ((under: Under) => SideOptions),
  look: (side: Side, under: Under) => Promise<T>,
): Promise<T> {
  const [theirs, ours] = await Promise.all(
    (['pi', 'tapline'] as const).map(async (under) => {
      await using side = await openSide(under, typeof options === 'function' ? options(under) : options)
      return await look(side, under)
    }),
  )
  expect(ours).toEqual(theirs)
  return ours as T
}

const search = (side: Side) => side.call('tool_search', { query: 'Close a ticket', limit: 1 })
/** The tools of servers that a request declares. */
const ofServers = async (side: Side): Promise<readonly string[]> =>
  toolNames(await side.prompt()).filter((name) => name.startsWith('mcp__'))

describe('tool_search', () => {
  it('declares what it finds for the next request, and that stays when the session is resumed', async () => {
    const seen = await both({ entries: { def: { exposure: 'deferred' } } }, async (side) => {
      await registered(side, TOOLS)
      const before = await ofServers(side)
      const found = await search(side)
      const after = await ofServers(side)
      const called = await side.call(LOADED, { id: '1' })
      const { sessionFile } = (await side.pi.send('get_state')).data
      await side.pi.send('new_session')
      const fresh = await ofServers(side)
      await side.pi.send('switch_session', { sessionPath: sessionFile })
      // Under pi it is there again once its server is; Tapline knows it before.
      await registered(side, TOOLS)
      return { before, found, after, called, fresh, resumed: await ofServers(side) }
    })
    expect(seen).toMatchObject({ before: [], after: [LOADED], called: 'done', fresh: [], resumed: [LOADED] })
  })

  it('waits for every server', async () => {
    await using paper = await createStage()
    const script = paper.scratch.write('script.json', { capabilities: { tools: {} }, ...SCRIPT })
    const late = { command: process.execPath, args: [servers.scripted, script] }
    const found = await both(
      (under) => {
        const gate = path.join(paper.scratch.root, under)
        return {
          entries: {
            quick: { exposure: 'deferred' },
            late: { scripted: false, exposure: 'deferred', ...gated(gate, late) },
          },
        }
      },
      async (side, under) => {
        const searching = side.call('tool_search', { query: 'Close a ticket', limit: 20 })
        await side.pi.waitFor(
          ({ type, toolName }) => type === 'tool_execution_start' && toolName === 'tool_search',
        )
        await registered(side, TOOLS)
        writeFileSync(path.join(paper.scratch.root, under), '')
        return (await searching).match(/mcp__\w+__transition_issue/g)?.toSorted()
      },
    )
    expect(found).toContain('mcp__late__transition_issue')
  })

  it('loads what an allowlist leaves undeclared, but no direct tool', async () => {
    const entries = {
      dir: { exposure: 'direct' },
      cm: {},
      def: { exposure: 'deferred' },
      hid: { exposure: 'hidden' },
    }
    const seen = await both({ entries, args: ['--tools', 'read,tool_search'] }, async (side) => {
      await registered(side, 4 * TOOLS)
      const found = await side.call('tool_search', { query: 'Close a ticket', limit: 20 })
      return {
        found: found.match(/mcp__\w+__transition_issue/g)?.toSorted(),
        declared: (await ofServers(side)).toSorted(),
      }
    })
    expect(seen.found).toEqual(['mcp__cm__transition_issue', 'mcp__def__transition_issue'])
    expect(seen.declared).toEqual(expect.arrayContaining(seen.found!))
    expect(seen.declared.filter((name) => name.startsWith('mcp__dir__'))).toEqual([])
  })
})

describe('another extension’s codemode', () => {
  const codemode = (more: string): string => `pi.registerTool({
    name: 'codemode', label: 'codemode', description: 'Runs scripts.', defaultActive: false,
    parameters: { type: 'object', properties: { code: { type: 'string' } } }, ${more}
    execute: async () => ({ content: [{ type: 'text', text: pi.getAllTools().map(({ name }) => name).filter((name) => name.startsWith('mcp__')).length + ' tools' }], details: undefined }) })`

  it('is activated for servers, and waited with, when it says what it reaches', async () => {
    await using paper = await createStage()
    const extensions = [paper.extension('reaching', codemode(`reachesTools: () => 'all',`))]
    const seen = await both({ entries: { cm: {} }, extensions }, async (side) => ({
      declared: toolNames(await side.prompt()).includes('codemode'),
      answer: await side.call('codemode', { code: '' }),
    }))
    expect(seen).toEqual({ declared: true, answer: `${TOOLS} tools` })
  })

  it('is left alone when it does not, and the person is told', async () => {
    await using paper = await createStage()
    const extensions = [paper.extension('deaf', codemode(''))]
    const seen = await both({ entries: { cm: {} }, extensions }, async (side) => ({
      declared: toolNames(await side.prompt()).includes('codemode'),
      warning: await noticed(side.pi, /only reachable/),
    }))
    expect(seen).toEqual({ declared: false, warning: expect.stringContaining('they cannot be called') })
  })
})

describe('a change of the configuration', () => {
  it('activates what reaches the servers that it brings, by /reload and by /mcp reload', async () => {
    await using paper = await createStage()
    const again = `pi.registerCommand('again', { handler: (_args, ctx) => ctx.reload() })`
    const extensions = [paper.extension('again', again)]
    const reaching = async (side: Side): Promise<readonly string[]> =>
      toolNames(await side.prompt()).filter((name) => ['codemode', 'tool_search'].includes(name))
    const change = ({ stage: { scratch } }: Side, ...exposures: readonly string[]): void => {
      const args = [servers.scripted, path.join(scratch.root, 'script.json')]
      const entries = exposures.map((exposure) => [exposure, { command: process.execPath, args, exposure }])
      scratch.write('agent/mcp.json', { mcpServers: Object.fromEntries(entries) })
    }
    const options = { entries: { dir: { exposure: 'direct' } }, extensions }
    const seen = await both(options, async (side) => {
      const before = await reaching(side)
      change(side, 'deferred')
      await side.pi.command('/again')
      return { before, after: await reaching(side) }
    })
    expect(seen).toEqual({ before: [], after: ['tool_search'] })

    await using side = await openSide('tapline', options)
    expect(await reaching(side)).toEqual([])
    change(side, 'codemode', 'deferred')
    await side.pi.command('/mcp reload')
    expect(await reaching(side)).toEqual(['codemode', 'tool_search'])
    expect(
      await side.script(`text((await tools.mcp__codemode__transition_issue({})).content[0].text)`),
    ).toContain('done')
  })
})

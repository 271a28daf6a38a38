import { describe, expect, it } from 'vitest'
import { groupAlive, waitUntil } from '../../drivers/processes.ts'
import { connected, createStage, misbehaving, noticed, PATIENCE_MS, serversShow, tomlOf } from '../stage.ts'
import { booksSay, chatHolds, isIdle, keysTold, startSource } from '../pushes/source.ts'

describe('/mcp reload in the real pi', () => {
  it('takes changed files: servers come, go and change, and the others keep running', async () => {
    await using stage = await createStage()
    const [same, changing, going] = ['same', 'changing', 'going'].map((name) => stage.log(name))
    const entry = (log: typeof same, ...flags: string[]) => misbehaving('--log', log!.path, ...flags)
    stage.toml({ same: entry(same), changing: entry(changing), going: entry(going) })
    const pi = await stage.start()
    await connected(pi, 'same', 'changing', 'going')

    stage.scratch.write(
      'agent/loops/mcp.toml',
      `${tomlOf({ same: entry(same), coming: misbehaving() })}\n= broken`,
    )
    await pi.command('/mcp reload')
    await serversShow(pi, /! mcp config \(user, .*parse failed: TOML line/)
    await waitUntil(() => !going!.pids().some(groupAlive), PATIENCE_MS, 'the servers of a broken file to end')

    stage.toml({ same: entry(same), changing: entry(changing, '--tools', '2'), coming: misbehaving() })
    await pi.command('/mcp reload')
    const shown = await serversShow(pi, /changing: connected · 16 tools/, /coming: connected · 14 tools/)
    expect(shown).not.toMatch(/going|parse failed/)
    await noticed(pi, /parse failed/)

    stage.toml({ same: entry(same), changing: entry(changing) })
    const before = same!.pids().length
    await pi.command('/mcp reload')
    expect(await serversShow(pi, /changing: connected · 14 tools/)).not.toContain('coming')
    expect(same!.pids()).toHaveLength(before)
  })

  it('takes changed policies for pushes too', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const web = { kind: 'streamable_http', endpoint: source.url }
    stage.toml({ web: { ...web, inject_summary: true } })
    const pi = await stage.start()
    await source.heard()
    await source.push('shown')
    await chatHolds(pi, 1)
    stage.toml({ web: { ...web, inject_and_run: true } })
    await pi.command('/mcp reload')
    await source.heard()
    await source.push('run')
    await booksSay(pi, 'web', 'delivered', 2)
    await waitUntil(
      async () => stage.model.requests().length === 1 && (await isIdle(pi)),
      PATIENCE_MS,
      'a turn',
    )
    expect(keysTold(stage.model.requests()[0]!)).toEqual(['shown', 'run'])
  })
})

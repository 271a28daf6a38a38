import { describe, expect, it } from 'vitest'
import { waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  serversShow,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'
import { booksOf, chatHolds, startSource } from '../pushes/source.ts'

/** Hands in a plugin: `setup` is the body of its setup. */
const collected = (name: string, setup: string) => `
  pi.events.on('tapline:collect', (c) => c.add({ name: '${name}', api: 1, setup({ hooks }) { ${setup} } }))`

// Most of the time they wait.
describe.concurrent('plugins of other extensions in the real pi', () => {
  it('that throw, lie or are none cost a message each, and nothing else', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ server: { ...misbehaving(), exposure: 'direct' } })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_summary: true } })
    const throwing = collected(
      'throwing',
      `const fail = () => { throw new Error('this plugin throws') }
      for (const hook of ['config', 'notify', 'dedup', 'registerTool']) hooks[hook].tap({ stage: 'early' }, fail)
      hooks.deliver.observe(fail)
      hooks.deliver.sink('summary').tap({ stage: 'early' }, fail)`,
    )
    const lying = collected(
      'lying',
      `for (const hook of ['config', 'notify', 'dedup', 'registerTool']) hooks[hook].tap({ stage: 'early' }, () => 42)
      hooks.notify.tap({ stage: 'late' }, (notice) => notice.kind === 'trigger' && notice.method.endsWith('stolen')
        ? { ...notice, server: 'somebody-else' } : Promise.reject(new Error('a lie')))
      hooks.deliver.sink('summary').tapPromise({ stage: 'early' }, async () => 'delivered, I swear')`,
    )
    const others = `
      pi.events.on('tapline:collect', (c) => {
        for (const plugin of [42, null, { name: 'future', api: 99, setup() {} }, { name: 'stdio', api: 1, setup() {} }]) c.add(plugin)
        setTimeout(() => c.add({ name: 'late', api: 1, setup() {} }), 500)
        throw new Error('after all that')
      })`
    const extensions = [throwing, lying, others].map((body, index) => stage.extension(`bad-${index}`, body))
    const pi = await stage.start({ extensions: [TAPLINE, ...extensions] })
    await connected(pi, 'server', 'web')
    await source.heard()
    await source.push('one')
    await source.push('two')
    await source.notify('notifications/demo/stolen', { _meta: { pi_dedup_key: 'stolen' } })
    expect(await chatHolds(pi, 2)).toEqual(['one', 'two'])
    await waitUntil(async () => (await booksOf(pi, 'web'))['received'] === 3, PATIENCE_MS)
    expect(await booksOf(pi, 'web')).toMatchObject({ delivered: 2, dropped: 1, pending: 0 })
    expect(toolAnswer(await callTool(stage, pi, 'mcp__server__echo', { text: 'alive' }))).toBe('alive')

    const sentences = [
      'A plugin was added too late and is left out',
      'Plugin "throwing" failed at hook "config": this plugin throws',
      'Plugin "throwing" failed at hook "notify": this plugin throws',
      'Plugin "throwing" failed at hook "registerTool": this plugin throws',
      'Plugin "lying" answered hook "config" with a number, which is no answer.',
      'Plugin "lying" answered hook "notify" with a promise in a synchronous tap.',
      'Plugin "lying" answered hook "deliver" with a string, which is no answer.',
      'Plugin "future" was left out: it is made for plugin interface 99, this is 1.',
      'A second plugin named "stdio" was left out.',
      'it is not { name, api, setup } (got number)',
    ]
    const times = () => sentences.map((sentence) => said(pi).join('\n').split(sentence).length - 1)
    await waitUntil(
      () => !times().includes(0),
      PATIENCE_MS,
      () => said(pi).join('\n'),
    )
    // The bad taps are called again and again; they are spoken of twice at most.
    expect(Math.max(...times())).toBeLessThanOrEqual(2)
  })

  it('that hang are given up, and what they held up goes on', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_summary: true } })
    const hanging = collected(
      'hanging',
      `for (const hook of ['config', 'dedup']) hooks[hook].tapPromise({ stage: 'early' }, () => new Promise(() => {}))`,
    )
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('hanging', hanging)] })
    expect((await pi.send('get_state')).data.isStreaming).toBe(false)
    await connected(pi, 'web')
    await source.heard()
    await source.push('late')
    expect(await chatHolds(pi, 1)).toEqual(['late'])
    for (const hook of ['config', 'dedup'])
      await noticed(pi, new RegExp(`Plugin "hanging" did not answer hook "${hook}" within 5 s\\.`))
  })

  it('see servers and triggers go by on pi.events, and may be a sink', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const log = stage.log('raw')
    stage.toml({
      web: { kind: 'streamable_http', endpoint: source.url, push: { default: 'pager' } },
      raw: misbehaving('--log', log.path),
    })
    const listener = `
      const seen = { server: [], trigger: [], paged: [] }
      for (const kind of ['server', 'trigger']) pi.events.on('tapline:' + kind, (event) => seen[kind].push(event))
      pi.events.on('tapline:collect', (c) => c.add({ name: 'pager', api: 1, setup({ hooks }) {
        hooks.deliver.sink('pager').tapPromise({}, async (trigger) => { seen.paged.push(trigger.key); return { sink: 'pager' } })
      } }))
      pi.registerCommand('seen', { handler: async (_args, ctx) => ctx.ui.notify(JSON.stringify(seen), 'info') })`
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('listener', listener)] })
    await connected(pi, 'web', 'raw')
    await source.heard()
    await source.push('one')
    await source.push('one')
    await callTool(stage, pi, 'raw_change')
    await serversShow(pi, /raw: connected · 15 tools/)
    await callTool(stage, pi, 'raw_crash')
    await serversShow(pi, /raw: connected · 14 tools/)
    await waitUntil(async () => (await booksOf(pi, 'web'))['deduped'] === 1, PATIENCE_MS)

    const [json = ''] = await pi.command('/seen')
    const seen = JSON.parse(json)
    expect(seen.paged).toEqual(['mcp:web:custom:notifications%2Fdemo%2Fevent:one'])
    const steps = seen.trigger.map(({ version, server, policy, state, sink }: Record<string, unknown>) => [
      version,
      server,
      policy,
      state,
      sink,
    ])
    expect(steps.filter(([, server]: string[]) => server === 'web')).toEqual([
      [1, 'web', 'pager', 'delivered', 'pager'],
      [1, 'web', 'pager', 'deduped', undefined],
    ])
    const raw = seen.server.filter(({ server }: { server: string }) => server === 'raw')
    expect(raw.slice(0, 3)).toEqual([
      { version: 1, event: 'started', server: 'raw', tools: 14 },
      { version: 1, event: 'tools_changed', server: 'raw', tools: 15 },
      {
        version: 1,
        event: 'error',
        server: 'raw',
        tools: 15,
        error: expect.stringContaining('exited with code 1'),
      },
    ])
    expect(raw[3]).toMatchObject({ event: 'started' })
    expect(raw.at(-1)).toMatchObject({ tools: 14 })
    expect(seen.server.filter(({ server }: { server: string }) => server === 'web')).toEqual([
      { version: 1, event: 'started', server: 'web', tools: 14 },
    ])
  })
})

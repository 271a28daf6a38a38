import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { connected, createStage, misbehaving, noticed, said, serversShow } from '../stage.ts'

describe('servers that only a person can help, in the real pi', () => {
  it('are told of once, together, with what to do, and not tried again by themselves', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving, ['--token', 'zq-right'])
    await using stage = await createStage()
    const { root } = stage.scratch
    const header = (value: string): object => ({ url: http.url, headers: { Authorization: value } })
    const runs = (): number =>
      existsSync(`${root}/runs`) ? readFileSync(`${root}/runs`, 'utf8').split('\n').length - 1 : 0
    stage.json({
      absent: { command: `${root}/server`, args: ['zq-argument'] },
      command: header(`!echo run >> ${root}/runs; echo zq-error >&2; exit 3`),
      header: header('Bearer zq-wrong'),
      lost: { ...misbehaving(), cwd: `${root}/no/such/place` },
      port: { url: 'http://127.0.0.1:9/mcp' },
      unset: header('Bearer ${ZQ_NOT_SET}'),
      works: misbehaving(),
    })
    // What may recover is tried again; it takes longer than what would be tried again with it.
    stage.toml({
      dies: {
        command: process.execPath,
        args: ['-e', 'process.exit(3)'],
        reconnect: { initial_ms: 500, max_ms: 1_000, max_attempts: 4 },
      },
    })
    const pi = await stage.start()
    const again = 'then /mcp reconnect it.'
    const install = `Install it, or write its full path in the entry, ${again}`
    const [title, ...told] = (await noticed(pi, /absent/)).split('\n')
    expect(title).toBe('MCP needs attention:')
    expect(told.pop()).toBe('Run /mcp to see every server.')
    expect(told.toSorted()).toEqual(
      [
        `'absent' failed: failed to spawn ${root}/server: command not found. ${install}`,
        `'command' failed: failed to resolve header "Authorization" (its command failed with exit code 3). Fix the value in the entry or what it refers to, ${again}`,
        "'dies' failed: server exited with code 3. (retrying with backoff, up to 4 attempts)",
        `'header' failed: The server refused its credential (HTTP 401). Fix the Authorization header of its entry, or what that refers to, ${again}`,
        `'lost' failed: failed to spawn ${process.execPath}: the directory ${root}/no/such/place does not exist. Make that directory, or fix "cwd" in the entry, ${again}`,
        "'port' failed: http://127.0.0.1:9 cannot be reached: its port is one that is kept for other protocols. Have the server listen on another port, and write that into the entry.",
        `'unset' failed: failed to resolve header "Authorization" from environment variable: ZQ_NOT_SET. Set ZQ_NOT_SET in the environment and start again.`,
      ].map((line) => `  mcp server ${line}`),
    )
    const lines = ['absent', 'command', 'lost', 'port', 'unset'].map(
      (name) => new RegExp(`${name}: disconnected: `),
    )
    await serversShow(
      pi,
      ...lines,
      /header: failed: The server refused its credential/,
      /dies: disconnected: .*\(4\)/,
    )
    expect(runs()).toBe(1)
    expect((await http.log()).filter(({ headers }) => headers['authorization'])).toHaveLength(1)
    expect(
      said(pi).filter((notice) => !notice.includes("'dies' failed: reconnect attempts exhausted")),
    ).toHaveLength(1)
    expect(JSON.stringify([pi.events, pi.stderr])).not.toMatch(/zq-/)

    // Somebody asks: one attempt, and one that works where somebody has seen to it.
    expect((await pi.command('/mcp reconnect command')).join()).toContain('exit code 3')
    expect(runs()).toBe(2)
    const [node, ...args] = [misbehaving().command, ...misbehaving().args]
    chmodSync(stage.scratch.write('server', `#!/bin/sh\nexec ${node} ${args.join(' ')}\n`), 0o755)
    expect((await pi.command('/mcp reconnect absent')).join()).toContain('is connected')
    await connected(pi, 'absent')
  })
})

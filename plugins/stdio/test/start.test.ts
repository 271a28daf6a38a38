import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { echo, open } from './opened.ts'
import { transportFor } from './support.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stdio-')))
afterAll(() => rmSync(directory, { recursive: true }))

describe('start', () => {
  const script = join(directory, 'script')
  writeFileSync(script, '#!/no/such/interpreter\n')

  test.each([
    [
      'a missing command',
      'no-such-command-x',
      directory,
      'failed to spawn no-such-command-x: command not found',
    ],
    ['a missing path', './nothing', directory, 'failed to spawn ./nothing: command not found'],
    [
      'a missing interpreter',
      './script',
      directory,
      'failed to spawn ./script: its interpreter was not found',
    ],
    [
      'a missing directory',
      'sh',
      '/no/such/place',
      'failed to spawn sh: the directory /no/such/place does not exist',
    ],
    ['a file for a directory', 'sh', script, `failed to spawn sh: ${script} is not a directory`],
    [
      'a NUL byte',
      'sh\0',
      directory,
      'failed to spawn sh?: the command, an argument or the environment is not valid',
    ],
  ])('%s', async (_, command, cwd, message) => {
    chmodSync(script, 0o755)
    const transport = transportFor(
      command,
      ['--token', 'secret\0'].slice(0, command.includes('\0') ? 2 : 0),
      {},
      { cwd },
    )
    let closes = 0
    transport.onclose = () => closes++
    await expect(transport.start()).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      message,
      data: { spawned: false },
    })
    await Promise.all([transport.close(), transport.close()])
    expect(closes).toBe(1)
  })

  test('a file that may not be run', async () => {
    chmodSync(script, 0o644)
    const transport = transportFor(script, [], {}, { cwd: directory })
    await expect(transport.start()).rejects.toThrow(`failed to spawn ${script}: permission denied`)
  })

  test('not twice, not after close(), not after an abort', async () => {
    const server = await echo()
    await expect(server.transport.start()).rejects.toThrow('once')
    const early = transportFor('/bin/sleep', ['600'])
    const closing = early.close()
    await expect(early.start()).rejects.toMatchObject({ code: 'CANCELLED' })
    await closing
    const aborted = transportFor('/bin/sleep', ['600'], {}, { signal: AbortSignal.abort() })
    await expect(aborted.start()).rejects.toMatchObject({ code: 'CANCELLED' })
    await expect(aborted.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
    })
  })

  test('in its directory, with its environment and its arguments as they are', async () => {
    const server = await echo({}, { cwd: directory, env: { ONLY: 'this one' } })
    expect(await server.ask('cwd')).toBe(directory)
    expect(await server.ask('env')).toEqual({ ONLY: 'this one' })
    const text = `printf '%s\\n' "$1"`
    const shell = open('/bin/sh', ['-c', text, 'sh', '{"jsonrpc":"2.0","method":"$HOME `id` \'"}'])
    const first = new Promise((resolve) => (shell.onmessage = resolve))
    await shell.start()
    expect(await first).toMatchObject({ method: "$HOME `id` '" })
  })
})

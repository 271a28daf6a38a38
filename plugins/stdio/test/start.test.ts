import { chmodSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { launchFailure } from '../src/process.ts'
import { echo, open } from './opened.ts'
import { transportFor } from './support.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stdio-')))
afterAll(() => rmSync(directory, { recursive: true }))

const INSTALL = 'Install it, or write its full path in the entry, then /mcp reconnect it.'
const DIRECTORY = 'Make that directory, or fix "cwd" in the entry, then /mcp reconnect it.'

describe('start', () => {
  const script = join(directory, 'script')
  writeFileSync(script, '#!/no/such/interpreter\n')
  const circle = join(directory, 'circle')
  symlinkSync(circle, circle)

  test.each([
    [
      'a missing command',
      'no-such-command-x',
      directory,
      'failed to spawn no-such-command-x: command not found',
      INSTALL,
    ],
    ['a missing path', './nothing', directory, 'failed to spawn ./nothing: command not found', INSTALL],
    [
      'a path through a file',
      './script/x',
      directory,
      'failed to spawn ./script/x: command not found',
      INSTALL,
    ],
    [
      'a missing interpreter',
      './script',
      directory,
      'failed to spawn ./script: its interpreter was not found',
      'Install what its first line names, then /mcp reconnect it.',
    ],
    [
      'a missing directory',
      'sh',
      '/no/such/place',
      'failed to spawn sh: the directory /no/such/place does not exist',
      DIRECTORY,
    ],
    ['a file for a directory', 'sh', script, `failed to spawn sh: ${script} is not a directory`, DIRECTORY],
    [
      'a directory in a circle',
      'sh',
      circle,
      `failed to spawn sh: the directory ${circle} cannot be looked at (ELOOP)`,
      DIRECTORY,
    ],
    [
      'a directory of too long a name',
      'sh',
      `/${'x'.repeat(300)}`,
      `failed to spawn sh: the directory /${'x'.repeat(300)} cannot be looked at (ENAMETOOLONG)`,
      DIRECTORY,
    ],
    [
      'a NUL byte in the directory',
      'sh',
      '/a\0b',
      'failed to spawn sh: the directory /a?b cannot be looked at (ERR_INVALID_ARG_VALUE)',
      DIRECTORY,
    ],
    [
      'a NUL byte',
      'sh\0',
      directory,
      'failed to spawn sh?: the command, an argument or the environment is not valid',
      'Take the null character out of the entry, then /mcp reconnect it.',
    ],
  ])('%s', async (_, command, cwd, message, advice) => {
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
      advice,
      data: { spawned: false, lasting: true },
    })
    await Promise.all([transport.close(), transport.close()])
    expect(closes).toBe(1)
  })

  test('a file that may not be run', async () => {
    chmodSync(script, 0o644)
    const transport = transportFor(script, [], {}, { cwd: directory })
    await expect(transport.start()).rejects.toMatchObject({
      message: `failed to spawn ${script}: permission denied`,
      advice: 'Make it executable, or fix "command" in the entry, then /mcp reconnect it.',
      data: { lasting: true },
    })
  })

  test('arguments that are too long', async () => {
    const transport = transportFor(
      '/bin/true',
      [`secret${'x'.repeat(4 * 1024 * 1024)}`],
      {},
      { cwd: directory },
    )
    await expect(transport.start()).rejects.toMatchObject({
      message: 'failed to spawn /bin/true: its arguments and environment are too long',
      data: { lasting: true },
    })
  })

  test('what only this moment forbids is said so, and may be tried again', () => {
    for (const code of ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY']) {
      const thrown = Object.assign(new Error('spawn sh secret'), { code })
      expect(launchFailure({ command: 'sh', args: ['secret'], cwd: directory, env: {} }, thrown)).toEqual({
        message: `failed to spawn sh: this machine cannot run it now (${code})`,
      })
    }
    const other = Object.assign(new Error('spawn sh secret'), { code: 'ELOOP' })
    expect(launchFailure({ command: 'sh', args: [], cwd: directory, env: {} }, other)).toEqual({
      message: 'failed to spawn sh: ELOOP',
      advice: 'Fix "command" in the entry, then /mcp reconnect it.',
    })
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

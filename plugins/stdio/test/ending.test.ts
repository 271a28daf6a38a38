import { describe, expect, test } from 'vitest'
import { echo, open } from './opened.ts'
import type { CodedError } from './support.ts'
import { eventually, survivors } from './support.ts'

const frame = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}\n`

describe('the end of a server', () => {
  test('exit code', async () => {
    const server = await echo()
    await server.tell('stderr', { text: 'cannot find the database\n' })
    await server.tell('exit', { code: 3 })
    await server.closed
    expect(server.transport.report()).toEqual({
      ending: 'server exited with code 3',
      lastStderr: 'cannot find the database',
      stderrTail: 'cannot find the database',
    })
    await server.transport.close()
    expect(server.closes).toBe(1)
  })

  test('signal', async () => {
    const server = await echo()
    await server.tell('die', { signal: 'SIGSEGV' })
    await server.closed
    expect(server.transport.report().ending).toBe('server was ended by signal SIGSEGV')
  })

  test('closing its output', async () => {
    const transport = open('/bin/sh', ['-c', 'exec 1>&-; exec sleep 600'])
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    await closed
    expect(transport.report().ending).toBe('server closed its output')
  })

  test('closing its input', async () => {
    const transport = open('/bin/sh', ['-c', 'exec 0<&-; echo closed >&2; exec sleep 600'])
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    await eventually('it is closed', () => transport.report().lastStderr === 'closed')
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: 'server closed its input',
    })
    await closed
  })

  test('what was written before it is delivered, then the end is told', async () => {
    const script = `process.stdout.write('${frame('push').trim()}\\n'.repeat(3_000), () => process.exit(0))`
    const transport = open(process.execPath, ['-e', script])
    let frames = 0
    let afterClose = 0
    const closed = new Promise<void>(
      (resolve) => (transport.onclose = () => resolve(void (afterClose = frames))),
    )
    transport.onmessage = () => {
      frames++
    }
    await transport.start()
    await closed
    expect([frames, afterClose]).toEqual([3_000, 3_000])
  })

  test('is told while others still hold the pipe open', async () => {
    const transport = open('/bin/sh', ['-c', `trap '' TERM; sleep 600 & exit 5`], {
      termGraceMs: 1_500,
    })
    const closed = new Promise<number[]>(
      (resolve) => (transport.onclose = () => resolve(survivors(transport.pid!))),
    )
    await transport.start()
    expect(await closed).toHaveLength(1)
    expect(transport.report().ending).toBe('server exited with code 5')
    await transport.close()
    expect(survivors(transport.pid!)).toEqual([])
  })

  test('sends after it are refused at once', async () => {
    const server = await echo()
    await server.tell('exit', { code: 1 })
    await server.closed
    await expect(server.tell('echo')).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: 'server exited with code 1',
    })
  })

  test('a server that does not read is waited for, and close() refuses what waits', async () => {
    const transport = open('/bin/sleep', ['600'])
    await transport.start()
    const outcome = transport
      .send({ jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(4_000_000) } })
      .then(
        () => 'sent',
        (error: unknown) => (error as CodedError).code,
      )
    const pause = new Promise((resolve) => setTimeout(resolve, 50, 'waits'))
    expect(await Promise.race([outcome, pause])).toBe('waits')
    await transport.close()
    expect(await outcome).toBe('CONNECTION_CLOSED')
  })
})

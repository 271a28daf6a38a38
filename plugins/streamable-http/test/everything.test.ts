import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { connect } from './client.ts'

const script = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The reference server in a process of its own, on a port that it keeps. */
class Everything implements AsyncDisposable {
  readonly url: string
  readonly #port: number
  #child: ChildProcess | undefined

  constructor(port: number) {
    this.#port = port
    this.url = `http://127.0.0.1:${port}/mcp`
  }

  async up(): Promise<void> {
    const child = spawn(process.execPath, [script, 'streamableHttp'], {
      env: { ...process.env, PORT: String(this.#port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    let text = ''
    for await (const chunk of child.stderr) {
      text += String(chunk)
      if (text.includes('listening on port')) break
    }
  }

  async down(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
  }
}

describe('the reference server', () => {
  it('is connected, listed, called and heard, and all of that again after it was killed and started anew', async () => {
    await using server = new Everything(await freePort())
    await server.up()
    await using client = await connect(server.url, { requestTimeoutMs: 10_000 })
    expect(client.session.status).toMatchObject({ state: 'connected', era: 'legacy' })
    const { tools } = await client.session.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    const echo = () => client.session.callTool('echo', { message: 'over HTTP' })
    expect(await echo()).toMatchObject({ content: [{ text: 'Echo: over HTTP' }] })
    // It asks for our roots on the event stream, and says there what it got.
    await client.notifications.find(({ method }) => method === 'notifications/message')
    const progress: number[] = []
    await client.session.callTool(
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      { onProgress: (news) => progress.push(news.progress) },
    )
    expect(progress).toEqual([1, 2, 3, 4])

    await server.down()
    await expect(echo()).rejects.toMatchObject({ code: 'CONNECT_FAILED', data: { unreachable: true } })
    await server.up()
    expect(await echo()).toMatchObject({ content: [{ text: 'Echo: over HTTP' }] })
    await client.notifications.find(({ method }) => method === 'notifications/message', 2)
    expect(client.session.status.state).toBe('connected')
    expect(client.errors).toEqual([])
  })
})

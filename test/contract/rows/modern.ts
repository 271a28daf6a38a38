import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Frame, Sdk, Transport } from '@tapline/core'
import type { MemoryTransport } from '@tapline/core/testing'
import { describe, expect, it, vi } from 'vitest'
import { bench } from '../bench.ts'

type ServerPipe = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>['transport']>

/** A modern server on the official SDK at the other end of a memory pair. */
class ModernServer {
  /** What the client sent. */
  readonly frames: Frame[] = []
  resources: readonly string[] = []
  server: Server | undefined
  #pipe: MemoryTransport | undefined

  serve(pipe: MemoryTransport, listChanged = true): void {
    this.#pipe = pipe
    // Sees each frame before the SDK does.
    const heard: Transport = {
      start: () => pipe.start(),
      send: (frame) => pipe.send(frame),
      close: () => pipe.close(),
    }
    pipe.onmessage = (frame) => {
      this.frames.push(frame)
      heard.onmessage?.(frame)
    }
    pipe.onclose = () => heard.onclose?.()
    serveStdio(() => (this.server = this.#create(listChanged)), {
      legacy: 'reject',
      transport: heard as unknown as ServerPipe,
    })
  }

  requests(method: string): readonly Frame[] {
    return this.frames.filter((frame) => frame.method === method)
  }

  /** Ends the newest listen stream, as a server does that sheds load. */
  endListening(): void {
    const requestId = this.requests('subscriptions/listen').at(-1)?.id
    void this.#pipe?.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  }

  #create(listChanged: boolean): Server {
    const server = new Server(
      { name: 'modern', version: '2.0.0' },
      {
        capabilities: { tools: { listChanged }, resources: { subscribe: true, listChanged } },
        instructions: 'Be modern.',
      },
    )
    server.setRequestHandler('resources/list', () => ({
      resources: this.resources.map((uri) => ({ uri, name: uri })),
    }))
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'add', inputSchema: { type: 'object' as const } }],
    }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      if (progressToken !== undefined) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message: 'adding' },
        })
      }
      const { a, b } = params.arguments as { readonly a: number; readonly b: number }
      return { content: [{ type: 'text', text: String(a + b) }] }
    })
    return server
  }
}

/** A server of revision 2026-07-28. */
export function modernRows(load: () => Promise<Sdk>): void {
  describe('a modern server', () => {
    it('is known for one, and works', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe) })
      const { session } = made
      await session.ready()
      expect(session.status).toMatchObject({
        state: 'connected',
        era: 'modern',
        protocolVersion: '2026-07-28',
        serverInfo: { name: 'modern', version: '2.0.0' },
        instructions: 'Be modern.',
      })
      expect(made.eras.get('builds')).toBe('modern')
      const { tools } = await session.listTools()
      expect(tools.map(({ name }) => name)).toEqual(['add'])
      const progress: unknown[] = []
      const answer = await session.callTool(
        'add',
        { a: 2, b: 3 },
        { tool: tools[0]!, onProgress: (step) => progress.push(step) },
      )
      expect(answer.content).toEqual([{ type: 'text', text: '5' }])
      expect(progress).toEqual([{ progress: 1, message: 'adding' }])
      expect(server.requests('initialize')).toEqual([])
    })

    it('is listened to for what it can change, and heard', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe) })
      await made.session.ready()
      await made.until(() =>
        made.notifications.some(({ method }) => method === 'notifications/subscriptions/acknowledged'),
      )
      expect(server.requests('subscriptions/listen').map(({ params }) => params?.notifications)).toEqual([
        { toolsListChanged: true, resourcesListChanged: true },
      ])
      await server.server?.sendToolListChanged()
      await made.until(() =>
        made.notifications.some(({ method }) => method === 'notifications/tools/list_changed'),
      )
      // On these the SDK must hear them too: it owns the streams.
      expect(made.entered.map(({ method }) => method)).toContain('notifications/tools/list_changed')
    })

    it('is not listened to where it changes nothing', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe, false) })
      await made.session.listTools()
      expect(server.requests('subscriptions/listen')).toEqual([])
    })

    it('is listened to for the resources that are wanted, as its list changes', async () => {
      const server = new ModernServer()
      server.resources = ['db://one', 'file:///a']
      const spec = { subscribe: ['db://*', 'file:///named'] }
      const made = bench(await load(), { spec, serve: (pipe) => server.serve(pipe) })
      const wanted = () =>
        server
          .requests('subscriptions/listen')
          .map(
            ({ params }) =>
              (params?.notifications as { resourceSubscriptions?: string[] } | undefined)
                ?.resourceSubscriptions,
          )
          .at(-1)
          ?.toSorted()
          .join()
      const active = () => made.session.status.subscriptions?.active.toSorted().join()
      await made.session.ready()
      await made.until(() => active() === 'db://one,file:///named')
      expect(wanted()).toBe('db://one,file:///named')
      await server.server?.sendResourceUpdated({ uri: 'db://one' })
      await made.until(() =>
        made.notifications.some(({ method }) => method === 'notifications/resources/updated'),
      )
      server.resources = ['db://one', 'db://two']
      await server.server?.sendResourceListChanged()
      await made.until(() => active() === 'db://one,db://two,file:///named')
      expect(wanted()).toBe('db://one,db://two,file:///named')
      expect(made.session.status.subscriptions?.refused).toEqual([])
      expect(made.errors).toEqual([])
    })

    it('is listened to again when the stream has ended, and its catalogue is stale then', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe) })
      const acknowledged = () =>
        made.notifications.filter(({ method }) => method === 'notifications/subscriptions/acknowledged')
          .length
      await made.session.ready()
      await made.until(() => acknowledged() === 1)
      expect(made.stale).toBe(1)
      server.endListening()
      await made.until(() => acknowledged() === 2)
      await made.until(() => made.stale === 2)
      await server.server?.sendToolListChanged()
      await made.until(() =>
        made.notifications.some(({ method }) => method === 'notifications/tools/list_changed'),
      )
      expect(made.states).toEqual(['connecting', 'connected'])
    })

    it('whose streams end at once is listened to less and less often', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe) })
      vi.useFakeTimers()
      await made.session.ready()
      const listens = (): number => server.requests('subscriptions/listen').length
      for (let second = 0; second < 120; second++) {
        await vi.advanceTimersByTimeAsync(1_000)
        server.endListening()
      }
      // Half-second steps would be 100 and more; doubling ones up to 30 s are about ten.
      expect(listens()).toBeGreaterThan(3)
      expect(listens()).toBeLessThan(20)
    })

    it('is told of a call that is cancelled', async () => {
      const server = new ModernServer()
      const made = bench(await load(), { serve: (pipe) => server.serve(pipe) })
      await made.session.ready()
      server.server?.setRequestHandler('tools/call', () => new Promise(() => undefined))
      const stop = new AbortController()
      const call = made.session.callTool('add', {}, { signal: stop.signal })
      await made.until(() => server.requests('tools/call').length === 1)
      stop.abort()
      await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
      await made.until(() => server.requests('notifications/cancelled').length === 1)
      expect(server.requests('notifications/cancelled')[0]?.params?.requestId).toBe(
        server.requests('tools/call')[0]?.id,
      )
    })
  })
}

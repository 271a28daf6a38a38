import type { Progress, Sdk } from '@tapline/core'
import { describe, expect, it, vi } from 'vitest'
import { bench } from '../bench.ts'
import { type Script, type ScriptedServer, text } from '../scripted-server.ts'

const SILENT: Script = { 'tools/call': () => undefined }

/** What a server says of a call that is under way. */
export function progressRows(load: () => Promise<Sdk>): void {
  describe('progress', () => {
    const token = (server: ScriptedServer): string => {
      const { params } = server.requests('tools/call')[0]!
      return (params as { readonly _meta: { readonly progressToken: string } })._meta.progressToken
    }

    it('that is written together with the answer arrives, all of it and in order', async () => {
      const seen: Progress[] = []
      const { session } = bench(await load(), {
        scripts: [
          {
            'tools/call': (server, request) => {
              for (let n = 1; n <= 4; n++)
                server.push('notifications/progress', {
                  progressToken: token(server),
                  progress: n,
                  total: 4,
                  message: `step\u001B[31m ${n}`,
                })
              server.answer(request, text('done'))
            },
          },
        ],
      })
      await session.callTool('steps', {}, { onProgress: (progress) => seen.push(progress) })
      expect(seen).toEqual([1, 2, 3, 4].map((n) => ({ progress: n, total: 4, message: `step ${n}` })))
    })

    it('keeps a call alive beyond its timeout, up to a hard limit', async () => {
      vi.useFakeTimers()
      const made = bench(await load(), { scripts: [SILENT], spec: { requestTimeoutMs: 60_000 } })
      const { session } = made
      await session.ready()
      const outcome = vi.fn<(value: unknown) => void>()
      session.callTool('long', {}).then(outcome, outcome)
      await vi.advanceTimersByTimeAsync(0)
      const server = made.servers.at(-1)!
      for (let second = 50; second < 1_200; second += 50) {
        await vi.advanceTimersByTimeAsync(50_000)
        expect(outcome).not.toHaveBeenCalled()
        server.push('notifications/progress', { progressToken: token(server), progress: second })
      }
      await vi.advanceTimersByTimeAsync(50_000)
      expect(outcome.mock.calls).toMatchObject([
        [
          {
            code: 'REQUEST_TIMEOUT',
            message: expect.stringContaining('given up after 1200 s in spite of its progress'),
          },
        ],
      ])
      expect(server.methods.at(-1)).toBe('notifications/cancelled')
    })

    it('does not keep a call alive that is not its own', async () => {
      vi.useFakeTimers()
      const made = bench(await load(), { scripts: [SILENT], spec: { requestTimeoutMs: 1_000 } })
      await made.session.ready()
      const outcome = vi.fn<(value: unknown) => void>()
      made.session.callTool('long', {}).catch(outcome)
      await vi.advanceTimersByTimeAsync(900)
      made.servers.at(-1)!.push('notifications/progress', { progressToken: 'someone else’s', progress: 1 })
      await vi.advanceTimersByTimeAsync(100)
      expect(outcome.mock.calls).toMatchObject([[{ code: 'REQUEST_TIMEOUT' }]])
    })

    it('does no harm when it is malformed, or when whoever listens throws', async () => {
      let heard = 0
      const made = bench(await load(), {
        scripts: [
          {
            'tools/call': (server, request) => {
              for (const progressToken of [null, {}, { toString: 1 }, [], 7, undefined])
                server.push('notifications/progress', { progressToken })
              server.push('notifications/progress')
              server.push('notifications/progress', {
                progressToken: token(server),
                progress: 'much',
                total: null,
                message: 7,
              })
              server.answer(request, text('done'))
            },
          },
        ],
      })
      const onProgress = (progress: Progress): void => {
        heard++
        expect(progress).toEqual({ progress: 0 })
        throw new Error('no screen')
      }
      expect(await made.session.callTool('steps', {}, { onProgress })).toMatchObject(text('done'))
      expect(heard).toBe(1)
      // It is no event, but it is heard of: the books count it as handled.
      expect(made.notifications).toHaveLength(8)
    })
  })
}

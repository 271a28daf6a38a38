import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { page, PAGE_HEADERS } from './page.ts'
import { type Expected, isUnusable, type Redirected, readRedirect } from './redirected.ts'

/** Listens on this machine for the answer of one sign-in. */
export interface Callback {
  readonly port: number
  /** Resolves with the one answer that belongs to this sign-in; rejects when it came wrong or `signal` aborts. */
  wait(expected: Expected, signal: AbortSignal): Promise<Redirected>
  /** Frees the port. */
  close(): Promise<void>
}

/** Where to listen. */
export interface CallbackPlace {
  readonly host: string
  /** 0 for a free one. */
  readonly port: number
  /** Other paths are not found. */
  readonly paths: readonly string[]
}

/** Listens; rejects when the port is taken. */
export async function listen({ host, port, paths }: CallbackPlace): Promise<Callback> {
  let take: ((url: URL) => 'taken' | 'foreign' | 'broken') | undefined
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', `http://${host.includes(':') ? `[${host}]` : host}`)
    if (url === null || !paths.includes(url.pathname))
      return reply(response, 404, 'Not found', 'There is nothing here.')
    if (request.method !== 'GET') return reply(response, 405, 'Not allowed', 'There is nothing here.')
    switch (take?.(url)) {
      case 'taken':
        return reply(
          response,
          200,
          'The answer has arrived',
          'You can close this page, and go back to where you began to sign in.',
        )
      case 'broken':
        return reply(
          response,
          400,
          'That did not work',
          'The answer cannot be used. Go back to where you began to sign in.',
        )
      default:
        return reply(
          response,
          400,
          'Nobody waits for this',
          'No sign-in that is under way is answered by this page.',
        )
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    wait: (expected, signal) =>
      new Promise((resolve, reject) => {
        const end = (): void => {
          take = undefined
          signal.removeEventListener('abort', abort)
        }
        const abort = (): void => {
          end()
          reject(signal.reason as Error)
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        take = (url) => {
          const answer = readRedirect(url, expected)
          // Whoever does not know the state knows nothing of this sign-in.
          if (isUnusable(answer) && answer.fault === 'foreign') return 'foreign'
          end()
          if (!isUnusable(answer)) resolve(answer)
          else reject(new Error(`The answer of the browser cannot be used. ${answer.problem}`))
          return isUnusable(answer) ? 'broken' : 'taken'
        }
      }),
    close: () => closed(server),
  }
}

function reply(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { ...PAGE_HEADERS, connection: 'close' }).end(page(title, text))
}

/** Browsers keep connections open that they never use. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // What is being answered has a moment to arrive.
    setTimeout(() => server.closeAllConnections(), 200).unref()
  })
}

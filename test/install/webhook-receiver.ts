import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitUntil } from '../drivers/processes.ts'

/** One request that came in. */
export interface Delivery {
  /** Whether the signature is that of exactly this body and time, and the time is now. */
  readonly verified: boolean
  readonly id: string
  readonly body: Readonly<Record<string, unknown>>
  /** What it was answered with. */
  readonly status: number
}

/** A receiver of signed webhooks, as a third party writes one. */
export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  readonly deliveries: readonly Delivery[]
  /** What the next requests are answered with; 204 after them. */
  answer(...statuses: readonly number[]): void
  /** Resolves when this many have come. */
  holds(count: number): Promise<readonly Delivery[]>
}

/** Starts a receiver that knows the secret. */
export async function startWebhookReceiver(secret: string): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = []
  const statuses: number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8')
      const {
        'x-tapline-id': id,
        'x-tapline-timestamp': timestamp,
        'x-tapline-signature': signature,
      } = request.headers
      const expected = `sha256=${createHmac('sha256', secret)
        .update(`${String(timestamp)}.${raw}`)
        .digest('hex')}`
      const given = Buffer.from(String(signature))
      const isSigned = given.length === expected.length && timingSafeEqual(given, Buffer.from(expected))
      const isNow = Math.abs(Date.now() / 1_000 - Number(timestamp)) < 30
      const status = statuses.shift() ?? 204
      deliveries.push({ verified: isSigned && isNow, id: String(id), body: JSON.parse(raw), status })
      response.writeHead(status).end(status === 204 ? undefined : `the secret is ${secret}`)
    })
  })
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(0, '127.0.0.1', listening),
  )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=in-the-address`,
    deliveries,
    answer: (...next) => void statuses.push(...next),
    async holds(count) {
      await waitUntil(
        () => deliveries.length >= count,
        20_000,
        () => `${count} deliveries: ${JSON.stringify(deliveries)}`,
      )
      return deliveries
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

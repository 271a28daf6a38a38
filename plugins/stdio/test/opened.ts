import { afterEach } from 'vitest'
import type { StdioTransport } from '../src/transport.ts'
import { Echo, transportFor } from './support.ts'

const opened: StdioTransport[] = []
afterEach(() => Promise.all(opened.splice(0).map((transport) => transport.close())))

/** A transport that is closed after the test. */
export function open(...options: Parameters<typeof transportFor>): StdioTransport {
  const transport = transportFor(...options)
  opened.push(transport)
  return transport
}

/** A started `echo.mjs` that is closed after the test. */
export async function echo(...options: ConstructorParameters<typeof Echo>): Promise<Echo> {
  const server = new Echo(...options)
  opened.push(server.transport)
  await server.transport.start()
  return server
}

import { McpClient, StdioTransport } from '@earendil-works/pi-mcp'
import { METHOD, orderedCounter, SERVER, type Subject } from './subject.ts'

/** The client of pi's built-in support. */
export async function piMcp(): Promise<Subject> {
  const counter = orderedCounter()
  const [command, ...args] = SERVER
  const client = new McpClient({ name: 'bench', version: '1' })
  client.onNotification(METHOD, (params) => counter.take((params as { n: number }).n))
  await client.connect(new StdioTransport({ command, args }))
  return {
    call: (name, params) => client.callTool(name, params),
    received: counter.count,
    close: async () => {
      await client.close()
    },
  }
}

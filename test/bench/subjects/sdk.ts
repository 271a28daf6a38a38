import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { METHOD, orderedCounter, SERVER, type Subject } from './subject.ts'

/** The bare official SDK. */
export async function sdk(): Promise<Subject> {
  const counter = orderedCounter()
  const [command, ...args] = SERVER
  const client = new Client({ name: 'bench', version: '1' })
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === METHOD) counter.take((params as { n: number }).n)
  }
  await client.connect(new StdioClientTransport({ command, args }))
  return {
    call: (name, params) => client.callTool({ name, arguments: params }),
    received: counter.count,
    close: () => client.close(),
  }
}

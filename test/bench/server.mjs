// A raw MCP server for measurements: newline JSON-RPC over stdio, no SDK, no dependency.
//   tools: burst {count, method, from} sends notifications, big {bytes} answers one large frame, echo answers at once.
import { createInterface } from 'node:readline'

let lists = 0
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object', properties: {} } })

const calls = {
  echo: () => ({ content: [{ type: 'text', text: 'ok' }] }),
  lists: () => ({ content: [{ type: 'text', text: String(lists) }] }),
  big: ({ bytes }) => ({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] }),
  burst: ({ count, method, from = 0 }) => {
    const notifications = []
    for (let n = from; n < from + count; n++) {
      const params = {
        n,
        text: `event number ${n}`,
        _meta: { pi_dedup_key: `bench-${n}`, pi_summary: `event number ${n}` },
      }
      notifications.push(line({ method, params }))
    }
    process.stdout.write(notifications.join(''))
    return { content: [{ type: 'text', text: 'sent' }] }
  },
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'bench', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => {
    lists++
    return { tools: Object.keys(calls).map(tool) }
  },
  'tools/call': ({ name, arguments: args }) => calls[name](args ?? {}),
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined || method === undefined) return
  if (methods[method]) process.stdout.write(line({ id, result: methods[method](params ?? {}) }))
  else process.stdout.write(line({ id, error: { code: -32601, message: 'Method not found' } }))
})

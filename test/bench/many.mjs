// A raw MCP server with as many tools as asked for: `--tools N`. With `--late MS` it answers nothing before that time
// is over. Newline JSON-RPC over stdio, no SDK, no dependency.
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { toolSet } from './tool-set.mjs'

const { values } = parseArgs({
  options: { tools: { type: 'string', default: '1000' }, late: { type: 'string', default: '0' } },
})
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'many', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: toolSet(Number(values.tools)) }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: name }] }),
}

function answer(text) {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined || method === undefined) return
  if (methods[method]) process.stdout.write(line({ id, result: methods[method](params ?? {}) }))
  else process.stdout.write(line({ id, error: { code: -32601, message: 'Method not found' } }))
}

setTimeout(() => createInterface({ input: process.stdin }).on('line', answer), Number(values.late))

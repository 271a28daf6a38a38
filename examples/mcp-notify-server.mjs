// A push server without dependencies: each beat sends one notification of every chosen kind.
//   node mcp-notify-server.mjs [--every MS] [--count N] [--kinds heartbeat,tools,duplicate,...]
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const flag = (fallback) => ({ type: 'string', default: fallback })
const options = { every: flag('10000'), count: flag('Infinity'), kinds: flag('heartbeat') }
const { values: flags } = parseArgs({ options })
const uri = 'demo://beats'
let beats = 0
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const notify = (method, params) => send({ method: `notifications/${method}`, params })
const keyed = (name) => ({
  beat: beats,
  _meta: { pi_dedup_key: `${name}-${process.pid}-${beats}`, pi_summary: `demo ${name} ${beats}` },
})
const kinds = {
  heartbeat: () => notify('pi/demo/heartbeat', keyed('beat')),
  tools: () => notify('tools/list_changed'),
  resources: () => notify('resources/list_changed'),
  prompts: () => notify('prompts/list_changed'),
  updated: () => notify('resources/updated', { uri }),
  message: () => notify('message', { level: 'info', logger: 'demo', data: `beat ${beats}` }),
  progress: () => notify('progress', { progressToken: 'demo', progress: beats }),
  keyless: () => notify('pi/demo/keyless', { beat: beats }), // Nothing to deduplicate it by.
  duplicate: () => [1, 2].forEach(() => notify('pi/demo/twice', keyed('twice'))),
}
const status = { description: 'How many beats were sent.', inputSchema: { type: 'object' } }
const list = { listChanged: true }
const methods = {
  initialize: ({ protocolVersion: asked }) => ({
    protocolVersion: /^202(4-11-05|5-03-26|5-06-18|5-11-25)$/.test(asked) ? asked : '2025-11-25',
    capabilities: { tools: list, resources: { subscribe: true, ...list }, prompts: list, logging: {} },
    serverInfo: { name: 'mcp-notify-server', version: '1.0.0' },
  }),
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'tools/list': () => ({ tools: [{ name: 'demo_status', ...status }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: `${beats} beats sent` }] }),
  'resources/list': () => ({ resources: [{ uri, name: 'beats' }] }),
  'resources/read': () => ({ contents: [{ uri, text: String(beats) }] }),
  'resources/subscribe': () => ({}),
  'prompts/list': () => ({ prompts: [] }),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  // Unref'd, so that the server ends when its input does.
  if (method === 'notifications/initialized') setInterval(beat, Number(flags.every)).unref()
  if (id === undefined || method === undefined) return
  if (Object.hasOwn(methods, method)) send({ id, result: methods[method](params) })
  else send({ id, error: { code: -32601, message: `Method not found: ${method}` } })
})

function beat() {
  if (beats >= Number(flags.count)) return
  beats += 1
  flags.kinds.split(',').forEach((kind) => kinds[kind]())
}

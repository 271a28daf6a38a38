#!/usr/bin/env node
// A channel: what is posted over HTTP becomes a message in the conversation, and the model answers on an event stream.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { openAnswers } from './answers.mjs'
import { readSenders } from './senders.mjs'
import { openWeb } from './web.mjs'

const { WEBHOOK_CHANNEL_TOKENS, WEBHOOK_CHANNEL_PORT = '8788' } = process.env
const senders = readSenders(WEBHOOK_CHANNEL_TOKENS)
if (!senders) {
  console.error(
    'webhook-channel: set WEBHOOK_CHANNEL_TOKENS to "name:token,…", tokens of 16 characters or more',
  )
  process.exit(1)
}
const port = Number(WEBHOOK_CHANNEL_PORT)
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error(`webhook-channel: WEBHOOK_CHANNEL_PORT is "${WEBHOOK_CHANNEL_PORT}" and must be 1 to 65535`)
  process.exit(1)
}
const answers = openAnswers(senders.names)

const text = (description) => ({ type: 'string', description })
const reply = {
  name: 'reply',
  description: 'Answers a message. The sender reads nothing else of the conversation.',
  inputSchema: {
    type: 'object',
    properties: { chat_id: text('The chat_id of the message.'), text: text('What to say.') },
    required: ['chat_id', 'text'],
  },
}
const info = { name: 'webhook-channel', version: '0.1.0' }
const server = new Server(info, {
  // This makes it a channel.
  capabilities: { tools: {}, experimental: { 'claude/channel': {} } },
  instructions:
    'Messages arrive as <channel source="…" chat_id="…" message_id="…" user="…">. Senders are known by their ' +
    'tokens. They read nothing but what you send with reply; pass chat_id back.',
})
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [reply] }))
server.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: args = {} } }) => {
  try {
    return { content: [{ type: 'text', text: answers.send(args.chat_id, args.text) }] }
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
})
await server.connect(new StdioServerTransport())

const onMessage = (user, content, id) =>
  server.notification({
    method: 'notifications/claude/channel',
    params: { content, meta: { chat_id: user, user, message_id: id, ts: new Date().toISOString() } },
  })
openWeb({ port, senders, answers, onMessage })
process.stdin.on('end', () => process.exit(0))

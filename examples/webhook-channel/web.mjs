import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const LARGEST = 64 * 1024

/** Listens on this machine: POST /messages with a text, GET /events for the answers, both with a token. */
export function openWeb({ port, senders, answers, onMessage }) {
  const handle = async (request, response) => {
    const user = senders.named(request.headers.authorization)
    if (user === undefined) return response.writeHead(401).end('who are you?\n')
    const [path] = request.url.split('?')
    if (request.method === 'GET' && path === '/events') return answers.listen(user, response)
    if (request.method !== 'POST' || path !== '/messages') return response.writeHead(404).end()
    const text = await textOf(request)
    if (text === undefined) return response.writeHead(413).end(`at most ${LARGEST} bytes\n`)
    if (text.trim() === '') return response.writeHead(400).end('say something\n')
    const id = randomUUID()
    await onMessage(user, text, id)
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify({ message_id: id })}\n`)
  }
  const answer = async (request, response) => {
    try {
      await handle(request, response)
    } catch (error) {
      // Whoever sends hung up, or pi did: nobody else should be the worse for it.
      console.error(`webhook-channel: a request failed: ${error.message}`)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  // In a second window the port is taken: the messages go to the first one.
  server.on('error', ({ message }) => {
    console.error(`webhook-channel: not listening: ${message}`)
    answers.close(`nobody can be reached from here: ${message}`)
  })
  server.listen(port, '127.0.0.1', () =>
    console.error(`webhook-channel: http://127.0.0.1:${server.address().port}`),
  )
}

/** The body; undefined when it is too large. */
async function textOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > LARGEST) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

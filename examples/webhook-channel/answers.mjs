const MOST_KEPT = 100

/** The event streams of each sender, and the answers that nobody was there to read. */
export function openAnswers(names) {
  const senders = new Map(names.map((name) => [name, { streams: new Set(), kept: [] }]))
  let closed
  const frame = (text) => `data: ${JSON.stringify({ text })}\n\n`
  return {
    /** Makes a response an event stream of this sender, until it is closed. */
    listen(name, response) {
      const { streams, kept } = senders.get(name)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      response.flushHeaders()
      streams.add(response)
      response.on('close', () => streams.delete(response))
      for (const text of kept.splice(0)) response.write(frame(text))
    },
    /** Nothing can be sent any more, for this reason. */
    close: (reason) => (closed = reason),
    /** Sends an answer; throws when there is no such sender, or nothing to say. */
    send(name, text) {
      const sender = senders.get(name)
      if (closed) throw new Error(closed)
      if (!sender) throw new Error(`nobody is called ${name}; there are: ${names.join(', ')}`)
      if (typeof text !== 'string' || text === '') throw new Error('"text" must be what to say')
      for (const response of sender.streams) response.write(frame(text))
      if (sender.streams.size > 0) return 'sent'
      sender.kept = [...sender.kept, text].slice(-MOST_KEPT)
      return `kept until ${name} listens`
    },
  }
}

import { describe, expect, it } from 'vitest'
import { connect, failureOf } from './client.ts'
import { type Answer, answeringCalls, event, textResult } from './legacy-server.ts'

describe.concurrent('the cap on bodies', () => {
  const big = 'x'.repeat(5_000)
  const transport = { bodyCapBytes: 4_096 }

  const oversized: readonly [string, Answer][] = [
    ['a JSON body', (incoming) => incoming.result(textResult(big))],
    [
      'an event',
      (incoming) =>
        void incoming.events().end(event({ jsonrpc: '2.0', id: incoming.body!.id, result: textResult(big) })),
    ],
    ['an event without an end', (incoming) => void incoming.events().write(`data: ${big}`)],
    [
      'a body without an end',
      ({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).write(big),
    ],
  ]
  it.for(oversized)(
    'ends a call with %s that is too large, and the connection goes on',
    async ([, answer]) => {
      await using server = await answeringCalls(answer)
      await using client = await connect(server.url, { transport })
      expect(await failureOf(client)).toMatchObject({ code: 'LIMIT_EXCEEDED', data: { limit: 4_096 } })
      await (
        await server.called('tools/call')
      ).closed
      server.override = () => undefined
      expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
      expect(server.calls('initialize')).toHaveLength(1)
    },
  )

  it('holds for each event, not for the stream', async () => {
    await using server = await answeringCalls((incoming) => {
      const stream = incoming.events()
      for (let index = 0; index < 20; index++)
        stream.write(
          event({ jsonrpc: '2.0', method: `custom/${index}`, params: { text: big.slice(0, 1_000) } }),
        )
      stream.end(event({ jsonrpc: '2.0', id: incoming.body!.id, result: textResult('done') }))
    })
    await using client = await connect(server.url, { transport })
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'done' }] })
    expect(client.notifications.items).toHaveLength(20)
  })
})

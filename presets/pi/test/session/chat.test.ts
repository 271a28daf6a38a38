import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { describe, expect, it } from 'vitest'
import { createChat } from '../../src/session/chat.ts'

/** A chat whose agent is busy until it is told otherwise, and what was sent to it. */
function busyChat() {
  const sent: { content: string; turn: boolean }[] = []
  let idle = false
  const pi = {
    on: () => () => undefined,
    sendMessage: ({ content }: { content: string }, { triggerTurn }: { triggerTurn: boolean }) => {
      sent.push({ content, turn: triggerTurn })
      if (triggerTurn) idle = false
    },
  } as unknown as ExtensionAPI
  const ctx = { isIdle: () => idle, ui: { notify: () => undefined } } as unknown as ExtensionContext
  const chat = createChat(pi, ctx)
  const settle = () => {
    idle = true
    chat.flush()
  }
  return { chat, sent, settle }
}

const message = (text: string, asked?: boolean) => ({
  text,
  traceId: text,
  server: 'web',
  method: 'm',
  ...(asked === undefined ? {} : { asked }),
})

describe('turns that wait for the agent', () => {
  it('run one by one, in order', () => {
    const { chat, sent, settle } = busyChat()
    for (const text of ['a', 'b']) chat.run(message(text))
    expect(sent).toEqual([])
    settle()
    expect(sent).toEqual([{ content: 'a', turn: true }])
    settle()
    expect(sent.at(-1)).toEqual({ content: 'b', turn: true })
    chat.end()
    expect(sent).toHaveLength(2)
  })

  it('are only shown when the session ends, and so is what still comes', () => {
    const { chat, sent, settle } = busyChat()
    chat.run(message('waits'))
    chat.end()
    settle()
    chat.run(message('comes late'))
    settle()
    expect(sent).toEqual([
      { content: 'waits', turn: false },
      { content: 'comes late', turn: false },
    ])
    chat.close()
    expect(() => chat.run(message('too late'))).toThrow('ended')
    expect(() => chat.show(message('too late'))).toThrow('ended')
    expect(sent).toHaveLength(2)
  })

  it('are no more than so many, unless a person asks for one', () => {
    const { chat, sent, settle } = busyChat()
    for (let n = 0; n < 200; n++) chat.run(message(`${n}`))
    expect(() => chat.run(message('one too many'))).toThrow('200 turns wait already')
    chat.run(message('asked', true))
    settle()
    settle()
    chat.run(message('room again'))
    chat.end()
    // What had no turn is shown, so that the transcript has it.
    expect(sent.filter(({ turn }) => turn).map(({ content }) => content)).toEqual(['0', '1'])
    expect(sent).toHaveLength(202)
    expect(sent.at(-1)).toEqual({ content: 'room again', turn: false })
  })
})

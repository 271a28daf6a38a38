import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WindowRecord, Windows } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createChat } from '../../src/session/chat.ts'

/** A chat whose agent is busy until it is told otherwise, and what was sent to it. */
function busyChat() {
  const sent: { content: string; turn: boolean }[] = []
  const said: string[] = []
  let idle = false
  const pi = {
    on: () => () => undefined,
    sendMessage: ({ content }: { content: string }, { triggerTurn }: { triggerTurn: boolean }) => {
      sent.push({ content, turn: triggerTurn })
      if (triggerTurn) idle = false
    },
  } as unknown as ExtensionAPI
  const ctx = {
    isIdle: () => idle,
    ui: { notify: (text: string) => said.push(text) },
  } as unknown as ExtensionContext
  const chat = createChat(pi, ctx)
  const settle = () => {
    idle = true
    chat.flush()
  }
  return { chat, sent, said, settle }
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

describe('what another window has taken over meanwhile', () => {
  /** A busy chat with its journal, and what another window does that finds it standing still. */
  async function standingStill() {
    const root = mkdtempSync(join(tmpdir(), 'tapline-chat-'))
    const busy = busyChat()
    const self: WindowRecord = { pid: 1, instance: 'a', cwd: root, kind: 'interactive', heartbeatAt: '' }
    const windows = { self, list: () => [self] } as unknown as Windows
    const paths = { cwd: root, home: root, agentDir: root, loopsDir: root }
    const { dispose } = await testKernel(busy.chat.plugin, { host: { paths, windows, delivers: true } })
    onTestFinished(async () => {
      await dispose()
      rmSync(root, { recursive: true })
    })
    const path = join(root, 'tapline-turns/1-a')
    return {
      ...busy,
      path,
      /** Nothing of it is left to bring to the inbox. */
      takeOver: (...ids: string[]) => {
        renameSync(`${path}.jsonl`, `${path}.taken`)
        appendFileSync(`${path}.taken`, `${JSON.stringify({ taken: ids })}\n`)
      },
      dispose,
    }
  }

  it('has no turn here, and what came after it has', async () => {
    const { chat, sent, said, settle, path, takeOver } = await standingStill()
    for (const text of ['a', 'b']) chat.run(message(text))
    takeOver('a', 'b')
    chat.run(message('c'))
    expect(said).toEqual(['2 that waited for a turn are in the inbox: this window had stood still.'])
    expect(readFileSync(`${path}.jsonl`, 'utf8')).toContain('"c"')
    settle()
    settle()
    expect(sent).toEqual([{ content: 'c', turn: true }])
    expect(said).toHaveLength(1)
    expect(existsSync(`${path}.jsonl`)).toBe(false)
    chat.end()
  })

  it('is said of a turn that goes on, and is not shown again when the session ends', async () => {
    const { chat, sent, said, settle, takeOver } = await standingStill()
    for (const text of ['a', 'b']) chat.run(message(text))
    settle()
    takeOver('a', 'b')
    chat.end()
    expect(sent).toEqual([{ content: 'a', turn: true }])
    expect(said).toHaveLength(1)
  })

  it('has none either when Tapline is set up anew before it was seen', async () => {
    const { chat, sent, said, settle, takeOver, dispose, path } = await standingStill()
    for (const text of ['a', 'b']) chat.run(message(text))
    takeOver('a', 'b')
    await dispose()
    settle()
    expect(sent).toEqual([])
    expect(said).toHaveLength(1)
    expect(existsSync(`${path}.taken`)).toBe(false)
  })

  it('is not thought of where the journal was only removed', async () => {
    const { chat, sent, said, settle, path } = await standingStill()
    for (const text of ['a', 'b']) chat.run(message(text))
    rmSync(`${path}.jsonl`)
    settle()
    settle()
    expect(sent.map(({ content }) => content)).toEqual(['a', 'b'])
    expect(said).toEqual([])
  })
})

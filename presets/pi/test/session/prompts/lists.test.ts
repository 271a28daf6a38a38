import { type SessionStatus, TaplineError } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { type PromptListener, createPromptBook } from '@tapline/prompts'
import { describe, expect, it, vi } from 'vitest'
import type { Notices } from '../../../src/session/notices.ts'
import { followLists } from '../../../src/session/prompts/lists.ts'

/** Also where a test has taken the clock. */
const soon = setImmediate
const CONNECTED = { state: 'connected', attempt: 1, capabilities: { prompts: {} }, report: {} } as const
const connecting = { state: 'connecting', attempt: 1, report: {} } as const

/** A server whose status is set by hand, and a Tapline that has it. */
function scene(answer: () => unknown = () => ({ prompts: [{ name: 'one' }] })) {
  let asked = 0
  let listener: PromptListener | undefined
  let enabled = true
  let servers: Server[] = []
  const said: string[] = []
  const changes: string[] = []
  const session = {
    status: connecting as SessionStatus,
    request: async () => {
      asked += 1
      return answer()
    },
  }
  const spec = {
    name: 'srv',
    get enabled() {
      return enabled
    },
  }
  const server = { spec, session } as unknown as Server
  servers = [server]
  const tapline = {
    get servers() {
      return servers
    },
    server: (name: string) => servers.find((one) => one.spec.name === name),
  } as unknown as Tapline
  const book = createPromptBook((name) => listener?.onChange(name), {
    now: () => 0,
    sleep: async () => undefined,
  })
  const lists = followLists({
    tapline,
    prompts: {
      book,
      follow: (given) => {
        listener = given
        return () => (listener = undefined)
      },
    },
    notices: { say: ({ message }: { message: string }) => void said.push(message) } as unknown as Notices,
    onChange: (name) => changes.push(name),
  })
  const become = async (status: {
    [Field in keyof SessionStatus]?: SessionStatus[Field] | undefined
  }): Promise<void> => {
    session.status = { ...session.status, ...status } as SessionStatus
    lists.changed(server)
    await settled()
  }
  const settled = (): Promise<void> => new Promise((resolve) => soon(resolve))
  const hear = async (why: 'changed' | 'heard', name = 'srv'): Promise<void> => {
    listener?.onStale(name, why)
    await settled()
  }
  return {
    server,
    lists,
    book,
    said,
    changes,
    become,
    hear,
    asked: () => asked,
    follows: () => listener !== undefined,
    remove: () => (servers = []),
    disable: () => (enabled = false),
  }
}

describe('lists of prompts', () => {
  it('are read once for each connection, whatever else its status says', async () => {
    const { become, asked, book } = scene()
    await become({})
    expect(asked()).toBe(0)
    await become(CONNECTED)
    await become({ attempt: 2 })
    await become({})
    expect(asked()).toBe(1)
    expect(book.commands.map(({ name }) => name)).toEqual(['mcp:srv:one'])
    await become({ state: 'reconnecting' })
    expect(book.commands).toHaveLength(1)
    await become({ state: 'connected' })
    expect(asked()).toBe(2)
  })

  it('are read again when the server says so, and when it may have said so while nobody heard', async () => {
    const { become, hear, asked } = scene()
    await become(CONNECTED)
    await hear('changed')
    expect(asked()).toBe(2)
    // The first stream of a connection is opened together with it.
    await hear('heard')
    expect(asked()).toBe(2)
    await hear('heard')
    expect(asked()).toBe(3)
    await hear('changed', 'another')
    expect(asked()).toBe(3)
  })

  it('are read again when the stream of an older server had broken', async () => {
    const { become, asked } = scene()
    await become({ ...CONNECTED, report: { pushStream: 'connecting' } })
    await become({ report: { pushStream: 'open' } })
    await become({ report: { pushStream: 'open' } })
    expect(asked()).toBe(1)
    await become({ report: { pushStream: 'connecting' } })
    await become({ report: { pushStream: 'open' } })
    expect(asked()).toBe(2)
    // With the connection the stream is a new one.
    await become({ state: 'reconnecting', report: {} })
    await become({ ...CONNECTED, report: { pushStream: 'open' } })
    expect(asked()).toBe(3)
  })

  it('are empty for a server that offers none any more, that is disabled, or gone', async () => {
    for (const end of ['remove', 'disable'] as const) {
      const { become, book, changes, [end]: ends } = scene()
      await become(CONNECTED)
      expect(book.commands).toHaveLength(1)
      ends()
      await become({})
      expect(book.commands).toEqual([])
      expect(changes).toEqual(['srv', 'srv'])
    }
    const { become, book, asked } = scene()
    await become(CONNECTED)
    await become({ state: 'reconnecting' })
    await become({ ...CONNECTED, capabilities: {} })
    expect(book.commands).toEqual([])
    expect(asked()).toBe(1)
  })

  it('that fail are told of, unless the connection or the session is gone; who needs one asks again', async () => {
    let fails = true
    const refused = () => {
      if (fails) throw new Error('no shelf')
      return { prompts: [{ name: 'one' }] }
    }
    const { become, said, lists, server, book } = scene(refused)
    await become(CONNECTED)
    expect(said).toEqual(['server "srv": its prompts could not be listed: no shelf'])
    await expect(lists.known(server)).rejects.toThrow('no shelf')
    fails = false
    await lists.known(server)
    expect(book.commands).toHaveLength(1)

    const away = scene(refused)
    fails = true
    const becoming = away.become(CONNECTED)
    const { session } = away.server as unknown as { session: { status: SessionStatus } }
    session.status = { ...session.status, state: 'reconnecting' }
    await becoming
    expect(away.said).toEqual([])
  })

  it('that end with their connection are not told of, which its status is; a request that broke by itself is', async () => {
    vi.useFakeTimers()
    try {
      const broken = () => {
        throw new TaplineError('CONNECTION_CLOSED', 'server exited with code 3')
      }
      const ended = scene(broken)
      await ended.become({ ...CONNECTED, since: 1 })
      // The status is told of later than the request.
      await ended.become({ state: 'reconnecting', since: undefined })
      vi.advanceTimersByTime(1_000)
      // It ends again, as soon as it is asked.
      await ended.become({ ...CONNECTED, since: 2 })
      await ended.become({ state: 'reconnecting', since: undefined })
      await ended.become({ ...CONNECTED, since: 3 })
      vi.advanceTimersByTime(999)
      await ended.become({ state: 'disconnected', since: undefined })
      vi.runAllTimers()
      expect(ended.asked()).toBe(3)
      expect(ended.said).toEqual([])
      await expect(ended.lists.known(ended.server)).rejects.toThrow('server exited')

      const alone = scene(broken)
      await alone.become({ ...CONNECTED, since: 1 })
      expect(alone.said).toEqual([])
      vi.advanceTimersByTime(1_000)
      expect(alone.said).toEqual(['server "srv": its prompts could not be listed: server exited with code 3'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('that are odd are told of', async () => {
    const { become, said } = scene(() => ({ prompts: [{}, { name: 'one' }] }))
    await become(CONNECTED)
    expect(said).toEqual([
      'server "srv": Entry 1 on page 1 of prompts/list has no usable name and was left out.',
    ])
  })

  it('are followed until the end', async () => {
    const { lists, follows, become, hear, asked } = scene()
    await become(CONNECTED)
    lists.close()
    expect(follows()).toBe(false)
    await hear('changed')
    await become({ state: 'reconnecting' })
    await become(CONNECTED)
    expect(asked()).toBe(1)
  })
})

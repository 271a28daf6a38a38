import { testKernel } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { createPromptBook, type Prompts, prompts } from '../src/index.ts'
import { refusal, scripted, turn } from './support.ts'

const list = (...names: readonly string[]) => ({ prompts: names.map((name) => ({ name })) })

/** A clock that stands still: who sleeps is woken by hand. */
function clock() {
  const sleeps: { readonly ms: number; wake(): void }[] = []
  const state = {
    time: 1_000_000,
    sleeps,
    now: () => state.time,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
        sleeps.push({
          ms,
          wake: () => {
            state.time += ms
            resolve()
          },
        })
      }),
  }
  return state
}

describe('the book of prompts', () => {
  it('has the commands of each server, in the order of their names, and says what changes', async () => {
    const changed: string[] = []
    const book = createPromptBook((server) => changed.push(server))
    let offered = list('b', 'a')
    const zed = scripted(() => offered, undefined, 'zed')
    await book.refresh(zed)
    await book.refresh(scripted(() => list('c'), undefined, 'ab'))
    expect(book.commands.map(({ name }) => name)).toEqual(['mcp:ab:c', 'mcp:zed:a', 'mcp:zed:b'])
    expect(book.command('mcp:zed:a')?.prompt.name).toBe('a')
    expect(book.command('mcp:zed:c')).toBeUndefined()
    expect(book.command('mcp:nobody:a')).toBeUndefined()
    expect(changed).toEqual(['zed', 'ab'])
    offered = list('b', 'a')
    await book.refresh(zed)
    expect(changed).toHaveLength(2)
    offered = list('b')
    await book.refresh(zed)
    expect(changed).toEqual(['zed', 'ab', 'zed'])
    expect(book.commandsOf('zed').map(({ name }) => name)).toEqual(['mcp:zed:b'])
    book.forget('zed')
    book.forget('zed')
    expect(changed).toEqual(['zed', 'ab', 'zed', 'zed'])
    expect(book.servers).toEqual(['ab'])
    expect(book.listingOf('zed')).toBeUndefined()
  })

  it('keeps what it has when a list fails, and why it did, until one does not', async () => {
    const book = createPromptBook()
    let fails = false
    const server = scripted(() => {
      if (fails) throw refusal('gone')
      return list('a')
    })
    await book.refresh(server)
    fails = true
    await expect(book.refresh(server)).rejects.toThrow('gone')
    expect(book.commandsOf('srv')).toHaveLength(1)
    expect(book.failureOf('srv')?.message).toBe('gone')
    fails = false
    await book.refresh(server)
    expect(book.failureOf('srv')).toBeUndefined()
    expect(book.failureOf('nobody')).toBeUndefined()
  })

  it('lists a server once at a time, and once more for all who ask meanwhile', async () => {
    const answers: ((result: unknown) => void)[] = []
    const server = scripted(() => new Promise((resolve) => answers.push(resolve)))
    const time = clock()
    const book = createPromptBook(undefined, time)
    const first = book.refresh(server)
    await turn()
    const others = [book.refresh(server), book.refresh(server)]
    await turn()
    expect(answers).toHaveLength(1)
    answers[0]?.(list('a'))
    await first
    await turn()
    time.sleeps[0]?.wake()
    await turn()
    expect(answers).toHaveLength(2)
    answers[1]?.(list('b'))
    expect((await Promise.all(others)).map(({ prompts: [prompt] }) => prompt?.name)).toEqual(['b', 'b'])
  })

  it('asks a server that announces a change whenever it is asked less and less often', async () => {
    const time = clock()
    const book = createPromptBook(undefined, time)
    const server = scripted(() => list('a'))
    for (let round = 0; round < 12; round += 1) {
      const refreshed = book.refresh(server)
      await turn()
      time.sleeps.at(-1)?.wake()
      await refreshed
    }
    const spaces = time.sleeps.map(({ ms }) => ms)
    expect(spaces.slice(0, 3)).toEqual([100, 100, 100])
    expect(spaces.slice(3)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
  })

  it('does not take the word of a session that was replaced or taken away', async () => {
    const answers: ((result: unknown) => void)[] = []
    const slow = scripted(() => new Promise((resolve) => answers.push(resolve)))
    const book = createPromptBook()
    const old = book.refresh(slow)
    await turn()
    await book.refresh(scripted(() => list('new')))
    answers[0]?.(list('old'))
    await old
    expect(book.commandsOf('srv').map(({ prompt }) => prompt.name)).toEqual(['new'])

    const leaving = book.refresh(slow)
    await turn()
    book.forget('srv')
    answers[1]?.(list('old'))
    await leaving
    expect(book.commands).toEqual([])
  })

  it('keeps what a server offered until its new session is listed', async () => {
    const book = createPromptBook()
    await book.refresh(scripted(() => list('a')))
    const again = book.refresh(scripted(() => list('a', 'b')))
    expect(book.commandsOf('srv')).toHaveLength(1)
    await again
    expect(book.commandsOf('srv')).toHaveLength(2)
  })

  it('ends waiting lists when it is closed', async () => {
    const time = clock()
    const book = createPromptBook(undefined, time)
    const server = scripted(() => list('a'))
    await book.refresh(server)
    const waiting = book.refresh(server)
    await turn()
    book.close()
    await expect(waiting).rejects.toThrow('Nobody wants the list any more.')
  })
})

describe('the plugin', () => {
  it('hears of changed lists in both spellings and of streams that begin, and decides nothing about them', async () => {
    let offered: Prompts | undefined
    const { kernel, reports, dispose } = await testKernel(prompts({ onReady: (ready) => (offered = ready) }))
    const heard: unknown[] = []
    const stop = offered!.follow({
      onChange: (server) => heard.push(['changed', server]),
      onStale: (...stale) => heard.push(stale),
    })
    const tell = (method: string) => {
      const notice = { kind: 'raw', server: 'srv', method, params: undefined, receivedAt: 0 } as const
      expect(kernel.hooks.notify.call(notice)).toBe(notice)
    }
    tell('notifications/prompts/list_changed')
    tell('notifications/prompts/listChanged')
    tell('notifications/tools/list_changed')
    tell('notifications/subscriptions/acknowledged')
    kernel.hooks.notify.call({ kind: 'handled' })
    await offered!.book.refresh(scripted(() => list('a')))
    expect(heard).toEqual([
      ['srv', 'changed'],
      ['srv', 'changed'],
      ['srv', 'heard'],
      ['changed', 'srv'],
    ])
    stop()
    tell('notifications/prompts/list_changed')
    expect(heard).toHaveLength(4)
    expect(reports).toEqual([])
    await dispose()
  })
})

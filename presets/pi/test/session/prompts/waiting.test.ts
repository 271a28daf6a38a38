import { describe, expect, it, vi } from 'vitest'
import { whileWaiting } from '../../../src/session/prompts/waiting.ts'

type Ui = Parameters<typeof whileWaiting>[0]

function terminal(mode: Ui['mode'] = 'tui') {
  const shown: (string[] | undefined)[] = []
  let listener: ((data: string) => unknown) | undefined
  const ui = {
    setWidget: (_key: string, lines: string[] | undefined) => void shown.push(lines),
    onTerminalInput: (given: (data: string) => unknown) => {
      listener = given
      return () => (listener = undefined)
    },
  }
  return {
    ctx: { mode, ui } as unknown as Ui,
    shown,
    press: (data: string) => listener?.(data),
    heard: () => listener !== undefined,
  }
}

/** Work that ends with its signal. */
const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')))

describe('waiting for a server', () => {
  it('ends with Escape, as every terminal sends it, and takes no other key', async () => {
    for (const escape of ['\u001b', '\u001b[27u', '\u001b[27;1u', '\u001b[27;1:1u', '\u001b[27;1;27~']) {
      const { ctx, press, heard } = terminal()
      const waiting = whileWaiting(ctx, 'Waiting', new AbortController().signal, untilAborted)
      for (const other of ['a', '\u001b[A', '\u001bx', '\u001b[27;1:3u', '\u001b[27;5u', '\r'])
        expect(press(other)).toBeUndefined()
      expect(press(escape)).toEqual({ consume: true })
      expect(await waiting).toBe('aborted')
      expect(heard()).toBe(false)
    }
  })

  it('is spoken of once it takes a moment, and no longer than it takes', async () => {
    vi.useFakeTimers()
    try {
      const { ctx, shown, press } = terminal()
      const waiting = whileWaiting(
        ctx,
        'Waiting for\u001b[31m it',
        new AbortController().signal,
        untilAborted,
      )
      await vi.advanceTimersByTimeAsync(399)
      expect(shown).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect(shown).toEqual([['Waiting for it (escape cancels)']])
      press('\u001b')
      await waiting
      expect(shown.at(-1)).toBeUndefined()
      await whileWaiting(ctx, 'Waiting', new AbortController().signal, async () => 'done')
      await vi.advanceTimersByTimeAsync(1_000)
      expect(shown).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends with the session, and hears no keys where there are none', async () => {
    const ended = new AbortController()
    const { ctx } = terminal()
    const waiting = whileWaiting(ctx, 'Waiting', ended.signal, untilAborted)
    const rpc = terminal('rpc')
    const elsewhere = whileWaiting(rpc.ctx, 'Waiting', ended.signal, untilAborted)
    expect(rpc.heard()).toBe(false)
    ended.abort()
    expect([await waiting, await elsewhere]).toEqual(['aborted', 'aborted'])
  })

  it('hands on what the work rejects with', async () => {
    const { ctx, heard } = terminal()
    const failing = whileWaiting(ctx, 'Waiting', new AbortController().signal, async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(heard()).toBe(false)
  })
})

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { expect, it } from 'vitest'
import { showScreen } from '../../../src/session/screen/showing.ts'

type Ui = ExtensionContext['ui']
type Shown = Awaited<ReturnType<Parameters<Ui['custom']>[0]>>

/** pi's terminal: a screen that is done answers, one that is taken away does not. */
function terminal() {
  let shown: Shown | undefined
  const custom = (factory: (...given: readonly unknown[]) => Shown) =>
    new Promise((resolve) => {
      shown = factory(undefined, undefined, undefined, (result: unknown) => {
        resolve(result)
        shown?.dispose?.()
      })
    })
  return {
    ui: { custom } as unknown as Ui,
    takeAway: () => shown?.dispose?.(),
    type: (data: string) => shown?.handleInput?.(data),
  }
}

it('a screen answers what it was done with, and nothing when it was taken away', async () => {
  const disposed: string[] = []
  const screen = (name: string) => ({
    render: () => [],
    handle: () => undefined,
    dispose: () => void disposed.push(name),
  })
  const one = terminal()
  const chosen = showScreen<string>(one, (_tui, _theme, _keys, done) => {
    queueMicrotask(() => done('this'))
    return screen('one')
  })
  expect(await chosen).toBe('this')
  const two = terminal()
  const left = showScreen<string>(two, () => screen('two'))
  two.takeAway()
  expect(await left).toBeUndefined()
  expect(disposed).toEqual(['one', 'two'])
})

it('hands on each of two Escapes that came as one, and none when it is done', async () => {
  const keys: string[] = []
  const given = terminal()
  const shown = showScreen<void>(given, (_tui, _theme, _keys, done) => ({
    render: () => [],
    handle: (key) => {
      keys.push(key)
      if (keys.length === 3) done()
    },
    dispose: () => undefined,
  }))
  for (const data of ['\u001B\u001B', '\u001B\u001B', 'x']) given.type(data)
  await shown
  expect(keys).toEqual(['\u001B', '\u001B', '\u001B'])
})

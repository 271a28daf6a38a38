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
  return { ui: { custom } as unknown as Ui, takeAway: () => shown?.dispose?.() }
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

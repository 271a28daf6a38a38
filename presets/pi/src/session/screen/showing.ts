import type { ExtensionContext } from '@earendil-works/pi-coding-agent'

type Terminal = Parameters<Parameters<ExtensionContext['ui']['custom']>[0]>

/** A screen as it is shown, for as long as it is. */
export interface Screen {
  render(width: number): string[]
  handle(data: string): void
  /** It has been taken away: because it is done, or because the session has ended. */
  dispose(): void
}

/**
 * Shows a screen in the place of the editor until it says what it is done with; answers undefined when the session ends
 * before. pi takes the screen away then and answers nothing: whoever waited for that would wait forever, and whatever is
 * typed in the next session with them.
 */
export async function showScreen<Result>(
  { ui }: Pick<ExtensionContext, 'ui'>,
  create: (
    tui: Terminal[0],
    theme: Terminal[1],
    keybindings: Terminal[2],
    done: (result: Result) => void,
  ) => Screen,
): Promise<Result | undefined> {
  const gone = Promise.withResolvers<Result | undefined>()
  let answer: Result | undefined
  let isOver = false
  const done = ui.custom<Result>((tui, theme, keybindings, close) => {
    const screen = create(tui, theme, keybindings, (result) => {
      answer = result
      isOver = true
      close(result)
    })
    return {
      // In pi's fullscreen mode, paging is the screen's too.
      capturesViewportInput: true,
      render: (width) => screen.render(width),
      handleInput: (data) => {
        for (const key of keysIn(data)) if (!isOver) screen.handle(key)
      },
      invalidate: () => undefined,
      dispose: () => {
        isOver = true
        screen.dispose()
        // Also when it is done: that comes first.
        gone.resolve(answer)
      },
    }
  })
  return Promise.race([done, gone.promise])
}

/** pi hands on what a terminal sends key by key, but two Escapes in a row as one that no screen knows. */
function keysIn(data: string): readonly string[] {
  return data === '\u001B\u001B' ? ['\u001B', '\u001B'] : [data]
}

import type { ExtensionContext } from '@earendil-works/pi-coding-agent'

type Factory = Parameters<ExtensionContext['ui']['custom']>[0]
/** pi's keys, as the person has configured them. */
export type Keybindings = Parameters<Factory>[2]
/** Something that a key of pi's configuration stands for. */
export type Binding = Parameters<Keybindings['matches']>[1]

/** What a key means on a screen. */
export type Action = 'up' | 'down' | 'pageUp' | 'pageDown' | 'home' | 'end' | 'confirm' | 'cancel' | 'tab'

const BINDINGS: Readonly<Record<Action, Binding>> = {
  up: 'tui.select.up',
  down: 'tui.select.down',
  pageUp: 'tui.select.pageUp',
  pageDown: 'tui.select.pageDown',
  home: 'tui.editor.cursorLineStart',
  end: 'tui.editor.cursorLineEnd',
  confirm: 'tui.select.confirm',
  cancel: 'tui.select.cancel',
  tab: 'tui.input.tab',
}

/** What a key means, if it has a meaning of its own. */
export function actionOf(data: string, keybindings: Keybindings): Action | undefined {
  const found = Object.entries(BINDINGS).find(([, binding]) => keybindings.matches(data, binding))
  return found?.[0] as Action | undefined
}

/** What was typed. Some terminals send even a letter as a sequence with its code. */
export function letterOf(data: string): string {
  // oxlint-disable-next-line no-control-regex -- that is what the sequence begins with.
  const [, code] = /^\u001B\[(\d+)(?:;1(?::1)?)?u$/.exec(data) ?? []
  return code === undefined ? data : String.fromCodePoint(Math.min(Number(code), 0x10ffff))
}

/** The name of the key that does this, for hints: `esc`. */
export function keyName(keybindings: Keybindings, action: Action): string {
  const [key = ''] = keybindings.getKeys(BINDINGS[action])
  return key.replace(/^escape$/, 'esc')
}

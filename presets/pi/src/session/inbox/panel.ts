import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { messageOf } from '@tapline/core'
import type { Inbox, InboxEntry, InboxView } from '@tapline/inbox-sink'
import { actionOf as meaningOf, type Action as Key, type Keybindings, letterOf } from '../screen/keys.ts'
import { showScreen } from '../screen/showing.ts'
import { drawPanel, type PanelState } from './drawing.ts'
import { idOf } from './text.ts'

/** What another process does to the inbox is shown within this time, in milliseconds. */
const LOOK_MS = 500

type Action = 'up' | 'down' | 'pageUp' | 'pageDown' | 'claim' | 'close' | 'dismiss' | 'clear' | 'scope'

/** Shows the inbox of the project at `cwd` in the place of the editor; resolves with the finding that was chosen to be claimed, if one was. */
export function openPanel(ctx: ExtensionContext, inbox: Inbox, cwd: string): Promise<InboxEntry | undefined> {
  return showScreen<InboxEntry | undefined>(ctx, (tui, theme, keybindings, done) => {
    const panel = new InboxPanel(inbox, cwd, () => tui.requestRender(), done)
    return {
      render: (width) => [...drawPanel(panel, theme, width, tui.terminal.rows)],
      handle: (data) => panel.act(actionOf(data, keybindings)),
      dispose: () => panel.close(),
    }
  })
}

class InboxPanel implements PanelState {
  all = false
  view: InboxView = { listed: [], elsewhere: 0 }
  selected = 0
  page = 1
  note: string | undefined
  readonly #inbox: Inbox
  readonly #cwd: string
  readonly #draw: () => void
  readonly #done: (chosen: InboxEntry | undefined) => void
  readonly #timer: NodeJS.Timeout
  /** What a second `c` would dismiss. */
  #clearing: readonly string[] | undefined
  #entries: readonly InboxEntry[] | undefined
  #closed = false

  constructor(inbox: Inbox, cwd: string, draw: () => void, done: (chosen: InboxEntry | undefined) => void) {
    this.#inbox = inbox
    this.#cwd = cwd
    this.#draw = draw
    this.#done = done
    this.#look()
    this.#timer = setInterval(() => this.#look() && this.#draw(), LOOK_MS)
    this.#timer.unref()
  }

  act(action: Action | undefined): void {
    const clearing = this.#clearing
    this.#clearing = undefined
    this.note = undefined
    switch (action) {
      case 'up':
        this.#move(-1)
        break
      case 'down':
        this.#move(1)
        break
      case 'pageUp':
        this.#move(-this.page)
        break
      case 'pageDown':
        this.#move(this.page)
        break
      case 'scope':
        this.all = !this.all
        this.#look(true)
        break
      case 'claim':
        if (this.#chosen) return this.#done(this.#chosen)
        break
      case 'close':
        return this.#done(undefined)
      case 'dismiss':
        if (this.#chosen) this.#dismiss(this.#chosen)
        break
      case 'clear':
        this.#clear(clearing)
        break
      case undefined:
        break
    }
    this.#draw()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
  }

  get #chosen(): InboxEntry | undefined {
    return this.view.listed[this.selected]
  }

  #move(steps: number): void {
    const last = Math.max(0, this.view.listed.length - 1)
    this.selected = Math.min(last, Math.max(0, this.selected + steps))
  }

  #dismiss(entry: InboxEntry): void {
    this.#change(async () => {
      const { done } = await this.#inbox.dismiss(entry.id)
      return done ? `Dismissed ${idOf(entry)}.` : `${idOf(entry)} was triaged elsewhere meanwhile.`
    })
  }

  /** Asks first; then dismisses what was listed when it asked, and nothing that came since. */
  #clear(clearing: readonly string[] | undefined): void {
    const { listed } = this.view
    if (listed.length === 0) return
    if (clearing === undefined) {
      this.#clearing = listed.map(({ id }) => id)
      this.note = `Dismiss all ${listed.length} that are listed? c again: yes. Any other key: no.`
      return
    }
    this.#change(async () => `Dismissed ${(await this.#inbox.dismissAll(clearing)).length}.`)
  }

  #change(change: () => Promise<string>): void {
    change()
      .catch((thrown: unknown) => messageOf(thrown))
      .then((note) => {
        if (this.#closed) return
        this.#look(true)
        this.note = note
        this.#draw()
      })
      .catch(() => undefined)
  }

  /** Reads the inbox again; answers whether there is something else to show. What is selected stays so. */
  #look(anew = false): boolean {
    let entries: readonly InboxEntry[]
    try {
      entries = this.#inbox.entries()
    } catch (thrown) {
      const note = messageOf(thrown)
      const changed = note !== this.note
      this.note = note
      return changed
    }
    if (!anew && entries === this.#entries) return false
    this.#entries = entries
    const chosen = this.#chosen?.id
    this.view = this.#inbox.view({ cwd: this.#cwd, all: this.all })
    const at = this.view.listed.findIndex(({ id }) => id === chosen)
    if (at >= 0) this.selected = at
    this.#move(0)
    return true
  }
}

const KEYS: Readonly<Partial<Record<Key, Action>>> = {
  up: 'up',
  down: 'down',
  pageUp: 'pageUp',
  pageDown: 'pageDown',
  confirm: 'claim',
  cancel: 'close',
  tab: 'scope',
}

const LETTERS: Readonly<Record<string, Action>> = { d: 'dismiss', c: 'clear' }

function actionOf(data: string, keybindings: Keybindings): Action | undefined {
  const key = meaningOf(data, keybindings)
  return key === undefined ? LETTERS[letterOf(data)] : KEYS[key]
}

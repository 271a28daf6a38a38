import { messageOf } from '@tapline/core'
import { openBrowser, type Server } from '@tapline/headless'
import type { SignInPrompt } from '@tapline/oauth'
import { wrap } from '../../screen/columns.ts'
import { Field } from '../../screen/field.ts'
import { type Hint, hintLines } from '../../screen/hints.ts'
import { actionOf } from '../../screen/keys.ts'
import { BLANK, type Line, line } from '../../screen/line.ts'
import type { Sheet } from '../../screen/sheet.ts'
import { CANCELLED, signIn } from '../../sign-in/signing.ts'
import { type Page, type Panel, type Room, titleLine } from '../page.ts'

const MOST_ROWS = 12
const COPY = 'app.message.copy'

/** Begins to sign in to a server, and shows how that goes; nothing where the server is busy. */
export function openSignIn(panel: Panel, server: Server): void {
  const { name } = server.spec
  const page = new SignInPage(panel, name)
  const begun = panel.work.begin(name, `Signing in to "${name}"…`, async () => {
    try {
      return await signIn(server, panel.scope, page.prompt, page.signal)
    } catch (thrown) {
      if (messageOf(thrown) !== CANCELLED) throw thrown
      return CANCELLED
    } finally {
      panel.leave(page)
    }
  })
  if (begun) panel.open(page)
}

class SignInPage implements Page {
  readonly prompt: SignInPrompt
  readonly #panel: Panel
  readonly #name: string
  readonly #field = new Field()
  readonly #over = new AbortController()
  #address: string | undefined
  #note: string | undefined
  #problem: string | undefined
  #answer: ((pasted: string | undefined) => void) | undefined

  constructor(panel: Panel, name: string) {
    this.#panel = panel
    this.#name = name
    this.prompt = {
      show: (address) => this.#show(address),
      paste: (signal, problem) => this.#ask(signal, problem),
    }
  }

  /** Aborts when the page is left. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  sheet({ width }: Room): Sheet {
    const hints: readonly Hint[] = [
      ...(this.#answer ? [['confirm', 'submit'] as const] : []),
      ...(this.#address === undefined ? [] : this.#copyHint()),
      ['cancel', 'cancel'],
    ]
    const keys = hintLines(hints, this.#panel.keybindings, width)
    const lines =
      this.#address === undefined ? [line('muted', ' Asking where to sign in…')] : this.#waiting(width)
    return {
      head: [titleLine(`Sign in to ${this.#name}`), BLANK],
      rows: { count: lines.length, line: (index) => lines[index] ?? BLANK },
      // What is typed stays in sight.
      at: { top: Infinity },
      mostRows: Infinity,
      feet: [[BLANK, ...keys], keys],
    }
  }

  drawn(): void {}

  act(): void {}

  type(): void {}

  take(data: string): boolean {
    const { keybindings } = this.#panel
    const action = actionOf(data, keybindings)
    if (action === 'cancel') return false
    if (this.#address !== undefined && keybindings.matches(data, COPY)) this.#copy(this.#address)
    else if (action === 'confirm') this.#submit()
    else if (this.#answer) this.#field.take(data, keybindings)
    return true
  }

  close(): void {
    this.#over.abort()
  }

  #show(address: string): void {
    this.#address = address
    this.#panel.redraw()
    void openBrowser(address, process.env).then(
      (opened) => {
        if (!opened) this.#say('No browser could be opened here: open the address yourself.')
      },
      () => undefined,
    )
  }

  #ask(signal: AbortSignal, problem: string | undefined): Promise<string | undefined> {
    this.#problem = problem
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const end = (pasted: string | undefined): void => {
      signal.removeEventListener('abort', abort)
      this.#answer = undefined
      this.#panel.redraw()
      resolve(pasted)
    }
    const abort = (): void => end(undefined)
    this.#answer = end
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    this.#panel.redraw()
    return promise
  }

  #submit(): void {
    const pasted = this.#field.value.trim()
    if (pasted === '') return
    this.#field.clear()
    this.#answer?.(pasted)
  }

  #copy(address: string): void {
    this.#panel.copy(address)
    this.#say('Handed to your terminal’s clipboard.')
  }

  #say(note: string): void {
    this.#note = note
    this.#panel.redraw()
  }

  #copyHint(): readonly Hint[] {
    const [key] = this.#panel.keybindings.getKeys(COPY)
    return key === undefined ? [] : [[key, 'copy the address']]
  }

  #waiting(width: number): readonly Line[] {
    const words = (color: 'muted' | 'warning' | 'text', text: string): readonly Line[] =>
      wrap(text, width - 2, MOST_ROWS).map((part) => line(color, ` ${part}`))
    const address = this.#address ?? ''
    return [
      ...words('muted', 'Approve the request in your browser. If none has opened, open this address:'),
      ...wrap(address, width - 2, MOST_ROWS).map((text): Line => [
        { color: 'accent', text: ' ' },
        { color: 'accent', text, link: address },
      ]),
      ...(this.#note === undefined ? [] : words('text', this.#note)),
      BLANK,
      ...(this.#problem === undefined ? [] : words('warning', this.#problem)),
      ...(this.#answer
        ? [
            ...words('muted', 'If the browser is on another machine, paste the address that it was sent to:'),
            [{ color: 'accent' as const, text: ' > ' }, ...this.#field.line(Math.max(1, width - 4))],
          ]
        : words('muted', 'Signing in…')),
    ]
  }
}

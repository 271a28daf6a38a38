import { Field } from './field.ts'
import { actionOf, type Keybindings } from './keys.ts'
import type { Line } from './line.ts'

/** The key that begins to search. */
export const SEARCH_KEY = '/'

/** Narrows a list down to what is typed, until that is given up. */
export class Search {
  #field: Field | undefined

  /** Whether something is being looked for. */
  get isOpen(): boolean {
    return this.#field !== undefined
  }

  /** What is looked for, as {@link fits} compares it; empty where nothing is. */
  get wanted(): string {
    return this.#field?.value.trim().toLowerCase() ?? ''
  }

  begin(): void {
    this.#field ??= new Field()
  }

  /** Whether a text has what is looked for. */
  fits(text: string): boolean {
    const { wanted } = this
    return wanted === '' || text.toLowerCase().includes(wanted)
  }

  /** Takes what comes from the terminal while something is looked for; answers whether it did. Keys that move are left. */
  take(data: string, keybindings: Keybindings): boolean {
    if (!this.#field) return false
    const action = actionOf(data, keybindings)
    if (action === 'cancel') this.#field = undefined
    // These move the cursor in what is typed.
    else if (action && action !== 'home' && action !== 'end') return false
    else this.#field.take(data, keybindings)
    return true
  }

  /** What is typed, below a title. */
  lines(width: number): readonly Line[] {
    if (!this.#field) return []
    return [[{ color: 'accent', text: ` ${SEARCH_KEY} ` }, ...this.#field.line(Math.max(1, width - 4))]]
  }
}

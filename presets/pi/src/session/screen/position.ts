import type { Action } from './keys.ts'

/** Which of so many rows is meant: the selected one, or the first one shown. */
export class Position {
  index = 0
  /** How many rows are shown at a time. */
  page = 1

  /** Moves as a key says, within `count` rows; answers whether the key was one that moves. */
  move(action: Action, count: number): boolean {
    const to = this.#after(action, count)
    if (to === undefined) return false
    this.index = to
    this.clamp(count)
    return true
  }

  /** There are now so many rows. */
  clamp(count: number): void {
    this.index = Math.max(0, Math.min(this.index, count - 1))
  }

  #after(action: Action, count: number): number | undefined {
    switch (action) {
      case 'up':
        return this.index - 1
      case 'down':
        return this.index + 1
      case 'pageUp':
        return this.index - this.page
      case 'pageDown':
        return this.index + this.page
      case 'home':
        return 0
      case 'end':
        return count - 1
      default:
        return undefined
    }
  }
}

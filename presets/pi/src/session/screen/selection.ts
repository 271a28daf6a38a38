import type { Action } from './keys.ts'
import { Position } from './position.ts'

/** Which row of a list is selected. What is selected stays so, wherever it goes in the list. */
export class Selection<Row> {
  readonly #keyOf: (row: Row) => string
  readonly #position = new Position()
  #key: string | undefined

  /** `keyOf` says what a row is known by, also when it is another object. */
  constructor(keyOf: (row: Row) => string) {
    this.#keyOf = keyOf
  }

  /** How many rows are shown at a time. */
  set page(rows: number) {
    this.#position.page = rows
  }

  /** Where in these rows the selected one is. */
  index(rows: readonly Row[]): number {
    const at = this.#key === undefined ? -1 : rows.findIndex((row) => this.#keyOf(row) === this.#key)
    if (at >= 0) this.#position.index = at
    this.#position.clamp(rows.length)
    this.#keep(rows)
    return this.#position.index
  }

  /** The selected one of these rows; undefined where there are none. */
  row(rows: readonly Row[]): Row | undefined {
    return rows[this.index(rows)]
  }

  /** Moves as a key says; answers whether the key was one that moves. */
  move(action: Action, rows: readonly Row[]): boolean {
    this.index(rows)
    if (!this.#position.move(action, rows.length)) return false
    this.#keep(rows)
    return true
  }

  /** These are other rows than before: the first one is selected, unless what was is among them. */
  narrow(rows: readonly Row[]): void {
    if (rows.length > 0 && !rows.some((row) => this.#keyOf(row) === this.#key)) {
      this.#position.index = 0
      this.#keep(rows)
    }
  }

  #keep(rows: readonly Row[]): void {
    const row = rows[this.#position.index]
    if (row !== undefined) this.#key = this.#keyOf(row)
  }
}

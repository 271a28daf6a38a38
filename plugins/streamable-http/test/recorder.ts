const PATIENCE_MS = 15_000

/** What happened, in order, and a way to wait for what has not happened yet. */
export class Recorder<T> {
  readonly items: T[] = []
  readonly #waiting = new Set<() => void>()

  push(item: T): void {
    this.items.push(item)
    for (const look of this.#waiting) look()
  }

  /** The first item, or the n-th, past or future, that the predicate accepts. */
  find(accepts: (item: T) => boolean, nth = 1): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const accepted = this.items.filter(accepts)
        if (accepted.length < nth) return
        this.#waiting.delete(look)
        clearTimeout(timer)
        resolve(accepted[nth - 1] as T)
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        reject(
          new Error(
            `item ${nth} did not come within ${PATIENCE_MS} ms; there are ${this.items.length} of all kinds`,
          ),
        )
      }, PATIENCE_MS)
      this.#waiting.add(look)
      look()
    })
  }

  /** Resolves when there are this many items. */
  async count(wanted: number): Promise<void> {
    await this.find(() => true, wanted)
  }
}

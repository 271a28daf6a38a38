/** Lets one work after the other. */
export class Turns {
  readonly #waiting = new Set<(itsTurn: boolean) => void>()
  #isTaken = false

  /** Runs `work` when its turn has come; answers undefined when `signal` aborts before, and makes room at once then. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    const itsTurn = !this.#isTaken || (await this.#turn(signal))
    if (!itsTurn) return undefined
    this.#isTaken = true
    try {
      return signal.aborted ? undefined : await work()
    } finally {
      const [next] = this.#waiting
      // Nobody else comes in between.
      this.#isTaken = next !== undefined
      next?.(true)
    }
  }

  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => end(false)
      const end = (itsTurn: boolean): void => {
        signal.removeEventListener('abort', leave)
        this.#waiting.delete(end)
        resolve(itsTurn)
      }
      this.#waiting.add(end)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
    })
  }
}

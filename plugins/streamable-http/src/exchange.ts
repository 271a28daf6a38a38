import type { Frame } from '@tapline/core'

/** One POST and, for a request, the wait for its answer, on whichever stream that arrives. */
export class Exchange {
  /** The request's id; undefined for what expects no answer. */
  readonly id: string | number | undefined
  /** Settles when the request is answered, given up or failed. */
  readonly done: Promise<void>
  readonly #controller = new AbortController()
  #onOver: (() => void) | undefined
  #resolve = (): void => undefined
  #reject = (_error: Error): void => undefined
  #failure: Error | undefined
  #over = false

  constructor(frame: Frame) {
    this.id = frame.method === undefined ? undefined : (frame.id ?? undefined)
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.done.catch(() => undefined)
  }

  /** Aborts when nobody waits any more and the connection must go. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** Whether nothing is expected any more. */
  get over(): boolean {
    return this.#over
  }

  /** Runs `listener` once nothing is expected any more. */
  whenOver(listener: () => void): void {
    if (this.#over) listener()
    else this.#onOver = listener
  }

  /** The answer has arrived; its stream may go on. */
  finish(): void {
    this.#resolve()
    this.#end()
  }

  /** Ends the exchange with the first error that it got, which is returned. */
  fail(error: Error): Error {
    this.#failure ??= error
    this.#reject(this.#failure)
    this.#end()
    this.#controller.abort(this.#failure)
    return this.#failure
  }

  /** Nobody wants the answer any more. */
  cancel(): void {
    this.finish()
    this.#controller.abort()
  }

  #end(): void {
    this.#over = true
    this.#onOver?.()
    this.#onOver = undefined
  }
}

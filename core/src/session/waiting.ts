import { TaplineError } from '../errors.ts'

interface Waiter {
  resolve(): void
  reject(error: TaplineError): void
}

/** Those who wait for a server to be connected. */
export class WaitingRoom {
  readonly #waiters = new Set<Waiter>()
  readonly #server: string

  constructor(server: string) {
    this.#server = server
  }

  /** Whether anybody waits. */
  get occupied(): boolean {
    return this.#waiters.size > 0
  }

  /** Resolves at the next {@link admit}, rejects at the next {@link refuse} or when `signal` aborts. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        this.#waiters.delete(waiter)
        signal?.removeEventListener('abort', cancelled)
        end()
      }
      const cancelled = (): void =>
        settle(() =>
          reject(
            new TaplineError('CANCELLED', `Waiting for server "${this.#server}" was cancelled.`, {
              server: this.#server,
            }),
          ),
        )
      const waiter: Waiter = {
        resolve: () => settle(resolve),
        reject: (error) => settle(() => reject(error)),
      }
      this.#waiters.add(waiter)
      if (signal?.aborted) cancelled()
      else signal?.addEventListener('abort', cancelled, { once: true })
    })
  }

  admit(): void {
    for (const waiter of this.#waiters) waiter.resolve()
  }

  refuse(error: TaplineError): void {
    for (const waiter of this.#waiters) waiter.reject(error)
  }
}

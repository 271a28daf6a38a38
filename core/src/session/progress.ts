import type { Progress } from '../types/index.ts'
import { cleanText } from '../text.ts'

/**
 * Routes progress to the calls that asked for it. The SDK hands progress on a microtask later, so
 * that progress written together with the response is lost there; here it is heard first.
 */
export class ProgressBook {
  readonly #listeners = new Map<string, (progress: Progress) => void>()
  #next = 0
  #quiet: (() => void)[] = []

  /** A token for `_meta.progressToken`, and how to stop listening. */
  open(listener: (progress: Progress) => void): { readonly token: string; close(): void } {
    const token = `tapline-${++this.#next}`
    this.#listeners.set(token, listener)
    const close = (): void => {
      this.#listeners.delete(token)
      if (this.#listeners.size === 0) for (const resolve of this.#quiet.splice(0)) resolve()
    }
    return { token, close }
  }

  /** Resolves when no call is under way. */
  quiet(): Promise<void> {
    return this.#listeners.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#quiet.push(resolve))
  }

  /** Takes the params of a progress notification. Always true: progress never goes further. */
  accept(params: Readonly<Record<string, unknown>> | undefined): true {
    const token = params?.progressToken
    const listener = typeof token === 'string' ? this.#listeners.get(token) : undefined
    if (listener === undefined) return true
    const { progress, total, message } = params ?? {}
    listener({
      progress: typeof progress === 'number' ? progress : 0,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message: cleanText(message, 500) } : {}),
    })
    return true
  }
}

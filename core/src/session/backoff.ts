import { TaplineError } from '../errors.ts'

/** Delay before the attempt after `attempt` failed ones, in milliseconds: doubling, capped, ±20 %. */
export function backoffDelay(
  attempt: number,
  spec: { readonly initialMs: number; readonly maxMs: number },
): number {
  const exponent = Math.min(Math.max(attempt - 1, 0), 16)
  const delay = Math.min(spec.maxMs, spec.initialMs * 2 ** exponent)
  return Math.round(delay * (0.8 + Math.random() * 0.4))
}

/** A sleep that can be ended early from outside. */
export class Nap {
  #wake: (() => void) | undefined

  /** Resolves after `ms` (never by itself when undefined), or at the next {@link wake}. */
  async sleep(ms: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (ms !== undefined) timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
    this.#wake = undefined
  }

  /** Ends the sleep, if there is one. */
  wake(): void {
    this.#wake?.()
  }
}

/** Why a server is not tried again by itself. */
export function exhaustedError(server: string, attempts: number, last: TaplineError): TaplineError {
  const message = `reconnect attempts exhausted (${attempts}); last error: ${last.message}`
  return new TaplineError('RECONNECT_EXHAUSTED', message, { server, cause: last })
}

/** A slice of work lasts about this long, in milliseconds: between two of them pi draws and servers are heard. */
const SLICE_MS = 12

/** Work that is done over whenever something has changed: one pass at a time, each to its end, in slices. */
export interface Passes {
  /**
   * Asks for a pass that begins now, or when the one that is under way is over; whoever asks meanwhile shares it.
   * Resolves when it is over. Of a pass that begins now, the first slice is over when this returns.
   */
  run(): Promise<void>
  /** Resolves when what was asked for until now is done. */
  done(): Promise<void>
  /** What is under way ends at its next step, and nothing begins any more. */
  end(): void
}

/** What {@link createPasses} takes. */
export interface PassOptions {
  /** The steps of a pass that begins now. No step may take long by itself. */
  steps(): Iterator<unknown, void>
  /** Told of what a step has thrown; the pass is over. */
  failed(thrown: unknown): void
}

/** Passes of one kind of work. */
export function createPasses({ steps, failed }: PassOptions): Passes {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let ended = false

  const pass = async (): Promise<void> => {
    if (ended) return
    try {
      await inSlices(steps(), () => ended)
    } catch (thrown) {
      failed(thrown)
    }
  }
  const begin = (): Promise<void> => {
    const over = Promise.withResolvers<void>()
    running = over.promise
    void pass().then(() => {
      running = undefined
      over.resolve()
    })
    return over.promise
  }
  return {
    run: () => {
      if (ended) return Promise.resolve()
      if (!running) return begin()
      next ??= running.then(() => {
        next = undefined
        return running ?? begin()
      })
      return next
    },
    done: () => next ?? running ?? Promise.resolve(),
    end: () => {
      ended = true
    },
  }
}

/** Makes all steps, or those until it is to stop; the event loop turns after each slice. */
export async function inSlices<T>(
  steps: Iterator<unknown, T>,
  stops: () => boolean = () => false,
): Promise<T | undefined> {
  let end = performance.now() + SLICE_MS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() >= end) {
      await new Promise((resolve) => setImmediate(resolve))
      if (stops()) return undefined
      end = performance.now() + SLICE_MS
    }
  }
}

/** Resolves when the work is done, or nobody waits for it any more. */
export function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal?.aborted) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
  return Promise.race([work, aborted])
}

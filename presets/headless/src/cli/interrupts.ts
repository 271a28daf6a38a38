import { constants } from 'node:os'

type Signal = 'SIGINT' | 'SIGTERM'

/**
 * Runs `first` at the first of these signals; the next one ends the process at once. Answers how to stop that.
 *
 * The listeners stay until then: a library that cleans up after signals, as that of the locks does, ends the process itself
 * where it takes its own listener for the only one.
 */
export function atInterrupt(first: () => void, signals: readonly Signal[] = ['SIGINT']): () => void {
  let isFirst = true
  const heard = (signal: Signal): void => {
    if (!isFirst) process.exit(128 + constants.signals[signal])
    isFirst = false
    first()
  }
  for (const signal of signals) process.on(signal, heard)
  return () => {
    for (const signal of signals) process.off(signal, heard)
  }
}

/** One client under measurement, connected to the bench server. */
export interface Subject {
  /** Calls a tool and resolves with its answer. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>
  /** How many notifications of the burst have reached the end of the line, in order. */
  received(): number
  close(): Promise<void>
}

/** The method of the burst. */
export const METHOD = 'notifications/bench/event'

/** The command that starts the bench server. */
export const SERVER = [process.execPath, new URL('../server.mjs', import.meta.url).pathname] as const

/** Counts events that arrive in order; one out of order is an error. */
export function orderedCounter(): { take(n: unknown): void; count(): number } {
  let next = 0
  return {
    take: (n) => {
      if (n !== next) throw new Error(`event ${String(n)} arrived where ${next} was due`)
      next++
    },
    count: () => next,
  }
}

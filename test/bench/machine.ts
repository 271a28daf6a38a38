import { cpus, totalmem } from 'node:os'

/** What the figures were measured on. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
}

/** This machine, without its name or its paths. */
export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

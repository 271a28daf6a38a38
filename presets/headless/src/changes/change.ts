import type { Exposure } from '@tapline/core'

/** What of a server may be changed for good. Absent: stays as it is. */
export interface ServerChange {
  readonly enabled?: boolean
  readonly exposure?: Exposure
}

/** A file that cannot be changed: why, and what a person can do. */
export function refusal(path: string, why: string): Error {
  return new Error(`${path} was not changed: ${why}`)
}

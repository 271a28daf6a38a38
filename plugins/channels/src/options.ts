import type { Log } from '@tapline/core'

/** Numbers that `options.channels` of tapline.* may set. */
export interface ChannelNumbers {
  /** Events that one sender may have delivered in `senderMinutes`; what exceeds it goes to the inbox. */
  readonly senderLimit: number
  readonly senderMinutes: number
  /** How long an answer to a relayed approval is waited for. */
  readonly permissionMinutes: number
}

const NUMBERS: Readonly<Record<keyof ChannelNumbers, { readonly name: string; readonly usual: number }>> = {
  senderLimit: { name: 'sender_limit', usual: 60 },
  senderMinutes: { name: 'sender_minutes', usual: 10 },
  permissionMinutes: { name: 'permission_minutes', usual: 10 },
}
/** As long as a timer can run. */
const LARGEST = 35_000

/** The numbers as they were set; what is no number above 0 is told of and left out. */
export function readNumbers(options: Readonly<Record<string, unknown>>, log: Log): ChannelNumbers {
  const numberFor = ({ name, usual }: { readonly name: string; readonly usual: number }): number => {
    const value = options[name]
    if (value === undefined) return usual
    if (typeof value === 'number' && value > 0 && value <= LARGEST) return value
    log.warn(
      `options.channels.${name} must be a number above 0 and at most ${LARGEST}; it stays at ${usual}.`,
    )
    return usual
  }
  return {
    senderLimit: numberFor(NUMBERS.senderLimit),
    senderMinutes: numberFor(NUMBERS.senderMinutes),
    permissionMinutes: numberFor(NUMBERS.permissionMinutes),
  }
}

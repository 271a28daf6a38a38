import { afterEach, describe, vi } from 'vitest'
import { loadSdk, type Sdk } from '@tapline/core'
import { clearBenches } from './bench.ts'
import { callRows } from './rows/calls.ts'
import { eraRows } from './rows/eras.ts'
import { failureRows } from './rows/failures.ts'
import { handshakeRows } from './rows/handshake.ts'
import { lossRows } from './rows/losses.ts'
import { modernQuestionRows } from './rows/modern-questions.ts'
import { modernRows } from './rows/modern.ts'
import { notificationRows } from './rows/notifications.ts'
import { progressRows } from './rows/progress.ts'
import { questionRows } from './rows/questions.ts'
import { reconnectRows } from './rows/reconnects.ts'
import { subscriptionRows } from './rows/subscriptions.ts'

/** An SDK under the session. */
export interface Subject {
  readonly name: string
  load(): Promise<Sdk>
  /** Whether it speaks revisions from 2026-07-28 on. */
  readonly modern: boolean
}

/** What every SDK under the session must make of a server. */
export function sessionContract({ name, load, modern }: Subject): void {
  describe(`a session over ${name}`, () => {
    afterEach(async () => {
      vi.useRealTimers()
      await clearBenches()
    })
    handshakeRows(load)
    callRows(load)
    progressRows(load)
    notificationRows(load)
    questionRows(load)
    failureRows(load)
    reconnectRows(load)
    lossRows(load)
    subscriptionRows(load)
    if (!modern) return
    eraRows(load)
    modernRows(load)
    modernQuestionRows(load)
  })
}

/** The runtime's own. */
export const CURRENT: Subject = { name: '@modelcontextprotocol/client 2', load: loadSdk, modern: true }

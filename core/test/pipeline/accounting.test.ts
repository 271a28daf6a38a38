import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type DedupVerdict,
  HOOK_POLICIES,
  type Notice,
  type Plugin,
  type PushRule,
  type Receipt,
} from '../../src/index.ts'
import { trigger } from '../specs.ts'
import { balance, type Routing, routing } from './routing.ts'

const SERVERS = ['a', 'b'] as const
/** `log` and `ignore` are built in, nobody provides `nobody`. */
const POLICIES = ['fast', 'slow', 'inbox', 'log', 'ignore', 'nobody'] as const
const KINDS = [
  'trigger',
  'trigger',
  'trigger',
  'drop',
  'handled',
  'undeclared',
  'throws',
  'odd',
  'half',
  'foreign',
] as const
const VERDICTS = [
  'none',
  'first',
  'duplicate',
  'later',
  'throws',
  'slow first',
  'slow later',
  'hangs',
] as const
const ANSWERS = ['taken', 'nothing', 'throws', 'hangs', 'passed on', 'refused'] as const
const DEADLINE_MS = 4
/** Of what comes from server a, so many in a period are let through, by an entry for each method. */
const LIMITS = new Map<string, PushRule>(POLICIES.map((policy) => [policy, { policy, limit: '1/second' }]))
const LIMITED = (server: string, method: string): PushRule | string => {
  const policy = method.slice(method.lastIndexOf('/') + 1)
  return server === 'a' ? (LIMITS.get(policy) ?? policy) : policy
}

/** A limit that answers so, at once where `afterMs` is negative; each process counts for itself where there is nothing. */
function askedOf(answers: { taken: boolean; afterMs: number }[]): Routing['sharedLimit'] {
  return (_source, _entry, written) =>
    answers.length === 0
      ? undefined
      : {
          written,
          take: (answer) => {
            const { taken, afterMs } = answers.shift() ?? { taken: true, afterMs: -1 }
            if (afterMs < 0) answer(taken)
            else setTimeout(answer, afterMs, taken)
          },
        }
}

interface Push {
  readonly server: (typeof SERVERS)[number]
  readonly policy: (typeof POLICIES)[number]
  readonly kind: (typeof KINDS)[number]
  readonly verdict: (typeof VERDICTS)[number]
  readonly answer: (typeof ANSWERS)[number]
  readonly inboxAnswer: (typeof ANSWERS)[number]
  readonly key: number
  /** Whether the next one waits for this one. */
  readonly settled: boolean
}

const push: fc.Arbitrary<Push> = fc.record({
  server: fc.constantFrom(...SERVERS),
  policy: fc.constantFrom(...POLICIES),
  kind: fc.constantFrom(...KINDS),
  verdict: fc.constantFrom(...VERDICTS),
  answer: fc.constantFrom(...ANSWERS),
  inboxAnswer: fc.constantFrom(...ANSWERS),
  key: fc.integer({ min: 0, max: 3 }),
  settled: fc.boolean(),
})

it('accounts for every notification at every step, whatever plugins do', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(push, { maxLength: 16 }),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.record({ taken: fc.boolean(), afterMs: fc.integer({ min: -1, max: 3 }) })),
      async (pushes, withInbox, closeEarly, limited, answers) => {
        const plugin = new Chaos(pushes, withInbox)
        const impatient = { deadlineMs: DEADLINE_MS }
        const { pipeline, events } = await routing({
          plugins: [plugin.plugin],
          ...(limited ? { policyFor: LIMITED, sharedLimit: askedOf([...answers]) } : {}),
          policies: {
            dedup: { ...HOOK_POLICIES.dedup, ...impatient },
            deliver: { ...HOOK_POLICIES.deliver, ...impatient },
          },
        })
        const check = (): void => {
          for (const server of SERVERS) {
            const [received, accounted] = balance(pipeline.book(server))
            expect(accounted).toBe(received)
            expect(pipeline.book(server).pending).toBeGreaterThanOrEqual(0)
          }
        }
        plugin.onEvent = check
        for (const [index, { server, policy, settled }] of pushes.entries()) {
          pipeline.receive(server, { method: `notifications/${policy}`, params: { index } })
          check()
          if (settled) await pipeline.idle()
          check()
        }
        if (!closeEarly) await pipeline.idle()
        const closed = pipeline.close()
        check()
        await closed
        check()
        await pipeline.idle()
        check()

        for (const server of SERVERS) {
          const mine = pushes.filter((push) => push.server === server)
          const { counts } = pipeline.book(server)
          expect(counts.pending).toBe(0)
          expect(counts.handled).toBe(mine.filter(({ kind }) => kind === 'handled').length)
          expect(counts.received).toBe(mine.length - counts.handled)
        }
        // Each trigger ends in one state, and in one only.
        const ended = events
          .filter(({ state, traceId }) => state !== 'pending' && traceId !== '')
          .map(({ traceId }) => traceId)
        expect(ended.toSorted()).toEqual([...new Set(ended)].toSorted())
      },
    ),
    { numRuns: 60 },
  )
})

/** A plugin that does with each push what the push says. */
class Chaos {
  readonly plugin: Plugin
  onEvent: () => void = () => undefined
  readonly #pushes: readonly Push[]
  readonly #asked = new Set<string>()

  constructor(pushes: readonly Push[], withInbox: boolean) {
    this.#pushes = pushes
    this.plugin = {
      name: 'chaos',
      api: 1,
      setup: ({ hooks }) => {
        hooks.notify.tap({}, (notice) => this.#map(notice))
        hooks.dedup.tapPromise({}, ({ trigger: { traceId } }) => this.#judge(traceId))
        hooks.deliver
          .sink('fast')
          .tap({}, ({ traceId }) => this.#take(this.#push(traceId).answer) as Receipt | undefined)
        hooks.deliver
          .sink('slow')
          .tapPromise({}, async ({ traceId }) => this.#take(this.#push(traceId).answer))
        if (withInbox) {
          hooks.deliver
            .sink('inbox')
            .tapPromise({}, async ({ traceId }) => this.#take(this.#push(traceId).inboxAnswer))
        }
        hooks.deliver.observe(() => this.onEvent() as undefined)
      },
    }
  }

  #push(traceId: string): Push {
    return this.#pushes[Number(traceId)] as Push
  }

  #map(notice: Notice): Notice | undefined {
    if (notice.kind !== 'raw') return undefined
    const { server, method } = notice
    const index = notice.params?.index as number
    const { kind, key } = this.#push(String(index))
    switch (kind) {
      case 'trigger':
        return trigger({
          server,
          method,
          traceId: String(index),
          key: `${server}:${method}:${key}`,
          replacement: 'latest_replaces',
        })
      case 'drop':
        return { kind: 'drop', reason: 'boring' }
      case 'handled':
        return { kind: 'handled' }
      case 'throws':
        throw new Error('this mapping throws')
      case 'odd':
        return null as never
      case 'half':
        return { kind: 'trigger' } as never
      case 'foreign':
        return trigger({ server: 'somebody else' })
      case 'undeclared':
        return undefined
    }
  }

  async #judge(traceId: string): Promise<DedupVerdict | undefined> {
    const { verdict } = this.#push(traceId)
    const again = this.#asked.has(traceId)
    this.#asked.add(traceId)
    if (again) return { verdict: 'first' }
    const settle = (): void => {
      if (traceId.endsWith('7')) throw new Error('this claim throws')
    }
    switch (verdict) {
      case 'none':
        return undefined
      case 'first':
        return { verdict: 'first', done: settle, failed: settle }
      case 'duplicate':
        return { verdict: 'duplicate', of: 'x' }
      case 'later':
        return { verdict: 'later', until: Date.now() + 2 }
      case 'throws':
        throw new Error('this judge throws')
      case 'hangs':
        return new Promise(() => undefined)
      case 'slow first':
      case 'slow later':
        await new Promise((resolve) => setImmediate(resolve))
        return verdict === 'slow first'
          ? { verdict: 'first', failed: settle }
          : { verdict: 'later', until: Date.now() }
    }
  }

  #take(answer: Push['answer']): Promise<Receipt | undefined> | Receipt | undefined {
    switch (answer) {
      case 'taken':
        return { sink: 'chaos' }
      case 'passed on':
        return { sink: 'chaos', redirected: true }
      case 'refused':
        return { sink: 'chaos', dropped: 'no rules' }
      case 'nothing':
        return undefined
      case 'throws':
        throw new Error('this sink throws')
      case 'hangs':
        // A synchronous sink that answers a promise is refused at once; an asynchronous one runs into its deadline.
        return new Promise(() => undefined)
    }
  }
}

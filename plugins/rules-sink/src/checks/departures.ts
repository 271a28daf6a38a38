import { randomUUID } from 'node:crypto'
import type { Ground } from '../ground.ts'
import type { Leaving, StoredTrigger } from '../queue/item.ts'
import { isSameOwner, livenessOf } from '../queue/owners.ts'
import { reasonOf } from '../troubles.ts'

/** Brings to the inbox what cannot be checked or shown here. It stays in the queue until the inbox has it. */
export interface Departures {
  /** An entry for the queue, to be written in the same step as what it ends. */
  entry(trigger: StoredTrigger, cwd: string, reason: string): Leaving
  /** Brings what is in the queue and ours, or was left by a process that is gone. */
  bring(): Promise<void>
}

const INBOX = 'the inbox'
/** Beyond this many that no inbox takes, the oldest go. */
const MOST = 200
/** An inbox that did not take something is asked again after this. */
const AGAIN_MS = 30_000

/** Departures to the inbox of this host. */
export function createDepartures(ground: Ground): Departures {
  const { host, queue, backlog, audit } = ground
  const bringing = new Set<string>()
  /** In the inbox, whatever the queue says of it. */
  const brought = new Set<string>()
  const refusedAt = new Map<string, number>()

  const bringOne = async ({ id, trigger, name = trigger.traceId, cwd, reason }: Leaving): Promise<void> => {
    let taken = false
    try {
      taken = (await host.toInbox?.({ ...trigger, traceId: name }, { reason, cwd })) === true
      ground.troubles.works(INBOX)
    } catch (thrown) {
      ground.troubles.fails(INBOX, `the inbox did not take a push: ${reasonOf(thrown)}`)
    }
    if (!taken) {
      refusedAt.set(id, Date.now())
      return
    }
    refusedAt.delete(id)
    brought.add(id)
    audit(trigger, cwd, 'redirected', { details: { to: 'inbox', reason } })
    await backlog.insist((file) => ({ ...file, leaving: file.leaving.filter((left) => left.id !== id) }))
    brought.delete(id)
  }

  return {
    entry: (trigger, cwd, reason) => ({ id: randomUUID(), trigger, cwd, reason, owner: ground.self() }),
    bring: async () => {
      const now = Date.now()
      const due = queue.read().leaving.filter(({ id }) => {
        const refused = refusedAt.get(id)
        if (bringing.has(id) || brought.has(id)) return false
        return refused === undefined || now - refused > AGAIN_MS || now < refused
      })
      if (due.length === 0) return
      const isAlive = livenessOf(host.windows)
      const self = ground.self()
      const orphans = due.filter(({ owner }) => !isAlive(owner))
      const adopted = orphans.length === 0 ? [] : await adopt(ground, orphans)
      const ours = [...due.filter(({ owner }) => isAlive(owner) && isSameOwner(owner, self)), ...adopted]
        // Somebody else here may have begun meanwhile.
        .filter(({ id }) => !bringing.has(id) && !brought.has(id))
      for (const { id } of ours) bringing.add(id)
      try {
        for (const leaving of ours) await bringOne(leaving)
      } finally {
        for (const { id } of ours) bringing.delete(id)
      }
      await forgetOldest(ground)
    },
  }
}

/** Takes over what a process that is gone was bringing: the first that does has it. */
async function adopt(ground: Ground, orphans: readonly Leaving[]): Promise<readonly Leaving[]> {
  const isAlive = livenessOf(ground.host.windows)
  const owner = ground.self()
  return await ground.queue.change((file) => {
    const ids = new Set(orphans.map(({ id }) => id))
    const taken = file.leaving.filter((left) => ids.has(left.id) && !isAlive(left.owner))
    const leaving = file.leaving.map((left) => (taken.includes(left) ? { ...left, owner } : left))
    return [taken.length === 0 ? file : { ...file, leaving }, taken]
  })
}

async function forgetOldest({ queue, audit, troubles }: Ground): Promise<void> {
  if (queue.read().leaving.length <= MOST) return
  const gone = await queue.change((file) => {
    const out = file.leaving.slice(0, Math.max(0, file.leaving.length - MOST))
    return [{ ...file, leaving: file.leaving.slice(out.length) }, out]
  })
  for (const { trigger, cwd, reason } of gone)
    audit(trigger, cwd, 'dropped', { details: { reason: `no inbox took it: ${reason}` } })
  if (gone.length > 0)
    troubles.happened(`no inbox takes what is redirected to it; the oldest ${gone.length} are gone.`)
}

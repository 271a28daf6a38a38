import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '@tapline/core'
import { files as real } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import type { QueueFile } from '../src/queue/item.ts'
import { machine, push, type Script, session, until } from './support.ts'

const SOON = { timing: { tickMs: 50 }, options: { poll_interval_secs: 3_600 } }

/** Files of which those with this name cannot be written while it says so. */
function unwritable(name: string, is: () => boolean): Files {
  return {
    ...real,
    json: (options) => {
      const file = real.json(options)
      if (!options.path.endsWith(name)) return file
      const update: typeof file.update = async (change) => {
        // As the file system says it: with the name of the file that is written beside it, which differs each time.
        const message = `EROFS: read-only file system, rename '${options.path}.${Math.random()}.tmp'`
        return await file.update((content) => {
          const next = change(content)
          if (next !== content && is()) throw Object.assign(new Error(message), { code: 'EROFS' })
          return next
        })
      }
      return { ...file, update }
    },
  }
}

describe('rules that cannot be written', () => {
  it('cost no more checks once one has found that out, until they can', async () => {
    const on = machine()
    let readOnly = false
    const said: string[] = []
    const script: Script = async ({ ids, report }) => {
      said.push(await report(...ids).catch((thrown: unknown) => (thrown as Error).message))
    }
    const files = unwritable('triggers.json', () => readOnly)
    const one = await session({
      on,
      cwd: on.project('a'),
      script,
      timing: { tickMs: 20, watchMs: 20 },
      options: { poll_interval_secs: 1 },
      host: { files },
    })
    const rule = await one.add()
    readOnly = true
    await one.push(push())
    await until(() => one.states().includes('failed'))
    expect(said[0]).toMatch(/triggers\.json could not be changed: EROFS.* Do not carry out their actions/)
    const [row] = one.audit.filter(({ state }) => state === 'failed')
    expect(row?.details?.['error']).toContain('could not be recorded')
    await until(() => one.rules.running().length === 0)
    const made = one.agents.tasks.length
    await one.push(push())
    // Two intervals of periodic checks, and many looks at the queue.
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    expect(one.agents.tasks).toHaveLength(made)
    expect(one.rules.queue()).toHaveLength(2)
    expect(await one.rules.runNow(rule.id)).toMatchObject({
      refused: expect.stringContaining('triggers.json could not be changed'),
    })
    expect(one.rules.status().persistenceError).toContain('triggers.json could not be changed')
    expect(one.said).toEqual([expect.stringContaining('triggers.json could not be changed')])
    readOnly = false
    await until(() => said.some((text) => text.startsWith('Recorded. Now carry out')))
    await until(() => one.rules.queue().length === 0)
    expect(one.rules.store.get(rule.id)).toMatchObject({ enabled: false, firedAt: expect.any(String) })
    expect(one.rules.status().persistenceError).toBeUndefined()
  })
})

describe('a match that could not be recorded', () => {
  it('is no "nothing matches" because the model then says so', async () => {
    const on = machine()
    let readOnly = false
    const script: Script = async ({ ids, report, turn }) => {
      if (turn > 0) return void (await report(...ids))
      await report(...ids).catch(() => undefined)
      await report()
      readOnly = false
    }
    const files = unwritable('triggers.json', () => readOnly)
    const one = await session({ on, cwd: on.project('a'), script, host: { files } })
    const rule = await one.add()
    readOnly = true
    await one.push(push())
    await until(() => one.states().includes('completed'))
    expect(one.states()).toContain('failed')
    expect(one.rules.store.get(rule.id)?.enabled).toBe(false)
  })

  it('takes nothing from another that was', async () => {
    const on = machine()
    let readOnly = false
    const tried: (readonly string[])[] = []
    const script: Script = async ({ ids, report, turn }) => {
      tried.push(ids)
      if (turn > 0) return void (await report(...ids))
      await report(ids[0] as string)
      readOnly = true
      await report(ids[1] as string).catch(() => undefined)
      readOnly = false
    }
    const files = unwritable('triggers.json', () => readOnly)
    const one = await session({ on, cwd: on.project('a'), script, host: { files } })
    const [first, second] = [await one.add({ fireOnce: false, promoteToChat: true }), await one.add()]
    await one.push(push())
    await until(() => one.rules.store.get(second.id)?.enabled === false)
    await until(() => one.rules.queue().length === 0)
    expect(tried).toEqual([[first.id, second.id], [second.id]])
    expect(one.shown).toHaveLength(1)
    expect(one.inbox).toEqual([])
  })
})

describe('what does not work', () => {
  it('is no longer shown once it does', async () => {
    const on = machine()
    mkdirSync(join(on.loopsDir, 'polls.json'))
    const one = await session({ on, cwd: on.project('a'), ...SOON })
    await one.add()
    await until(() => one.rules.status().persistenceError?.includes('polls.json'))
    rmdirSync(join(on.loopsDir, 'polls.json'))
    await until(() => one.agents.tasks.length === 1)
    expect(one.rules.status().persistenceError).toBeUndefined()
  })

  it('is why a push goes to the inbox', async () => {
    const on = machine()
    const one = await session({
      on,
      cwd: on.project('a'),
      host: { files: unwritable('trigger-queue.json', () => true) },
    })
    await one.add()
    const refused = expect.stringMatching(/trigger-queue\.json cannot be used: EROFS: read-only file system$/)
    expect(await one.push(push())).toEqual({ sink: 'rules', refused })
    writeFileSync(join(on.loopsDir, 'triggers.json'), 'not json')
    const why = expect.stringContaining('triggers.json is not a list of rules in JSON')
    expect(await one.push(push())).toEqual({ sink: 'rules', refused: why })
    const failed = one.audit.filter(({ state }) => state === 'failed')
    expect(failed.map(({ details }) => details?.['reason'])).toEqual([
      expect.stringContaining('trigger-queue.json cannot be used'),
      why,
    ])
  })
})

describe('the file of the queue', () => {
  const item = (id: string, cwd: string, rule: string, more: object = {}) => ({
    id,
    kind: 'push',
    trigger: push({ traceId: id }),
    cwd,
    parts: { [rule]: { state: 'waiting', attempts: 0 } },
    ...more,
  })

  it('keeps elsewhere what is damaged in it, and goes on with the rest', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const { id: rule } = await off.add()
    await off.close()
    const at = (traceId: string, receivedAt: unknown) => ({ trigger: { ...push({ traceId }), receivedAt } })
    const damaged = [
      item('no-part', on.project('a'), rule, { parts: {} }),
      item('odd-time', on.project('a'), rule, {
        parts: { [rule]: { state: 'waiting', attempts: 0, notBefore: 'soon' } },
      }),
      item('no-date', on.project('a'), rule, at('no-date', 1e300)),
    ]
    const items = [...damaged, item('good', on.project('a'), rule)]
    writeFileSync(join(on.loopsDir, 'trigger-queue.json'), JSON.stringify({ version: 1, items }))
    const one = await session({ on, cwd: on.project('a') })
    await until(() => one.audit.some(({ traceId, state }) => traceId === 'good' && state === 'completed'))
    await until(() => (on.state('trigger-queue.json') as QueueFile).items.length === 0)
    const kept = readdirSync(on.loopsDir).filter((name) => name.includes('.damaged-'))
    expect(kept).toHaveLength(1)
    const text = readFileSync(join(on.loopsDir, kept[0] as string), 'utf8')
    for (const { id } of damaged) expect(text).toContain(`"${id}"`)
    expect(text).not.toContain('"good"')
    expect(one.rules.status().persistenceError).toContain(kept[0])
  })
})

describe('a rule whose directory is gone', () => {
  it('is not checked at once either', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    const rule = await one.add({ cwd: on.project('a/b') })
    rmSync(on.project('a/b'), { recursive: true })
    expect(await one.rules.runNow(rule.id)).toEqual({
      refused: `${join(on.project('a'), 'b')}, the directory of rule ${rule.id}, is missing.`,
    })
    expect(one.agents.tasks).toEqual([])
  })
})

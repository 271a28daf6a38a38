import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS } from '../stage.ts'
import { booksOf, isPush } from './source.ts'

const flood = (more: object) => ({
  command: process.execPath,
  args: [servers.storm, '--rate', '5000'],
  ...more,
})

it.each([
  ['inject_summary', flood({ inject_summary: true }), 600, /^flood: [\d,]+ more pushes of policy "summary"/],
  [
    'inject_and_run without a limit',
    flood({ push: { default: { policy: 'run', limit: 'none' } } }),
    1,
    /200 turns wait already/,
  ],
] as const)(
  'a flood leaves pi responsive and its books in balance (%s)',
  async (_name, entry, shown, line) => {
    await using stage = await createStage()
    stage.toml({ flood: entry })
    const pi = await stage.start()
    // The model never comes to the end of its first turn.
    stage.model.script([{ text: 'thinking', hold: 'turn' }])
    let slowest = 0
    const received = async () => {
      const began = performance.now()
      await pi.send('get_state')
      slowest = Math.max(slowest, performance.now() - began)
      return (await booksOf(pi, 'flood'))['received']! >= 20_000
    }
    await waitUntil(received, PATIENCE_MS, '20,000 pushes')
    // Without a bound it takes minutes; the rest is how busy this machine is.
    expect(slowest).toBeLessThan(5_000)
    const {
      received: all,
      delivered,
      redirected,
      deduped,
      collapsed,
      dropped,
      pending,
    } = await booksOf(pi, 'flood')
    expect(delivered! + redirected! + deduped! + collapsed! + dropped! + pending!).toBe(all)
    expect(pi.events.filter(isPush)).toHaveLength(shown)
    const inbox = () => readFileSync(join(stage.scratch.agent, 'loops/inbox.jsonl'), 'utf8').split('\n')
    const texts = () => inbox().flatMap((raw) => (raw === '' ? [] : [JSON.parse(raw).text as string]))
    await waitUntil(
      () => texts().some((text) => line.test(text)),
      PATIENCE_MS,
      () => `${line} in ${texts()[0]}`,
    )
    await pi.kill('SIGKILL')
  },
)

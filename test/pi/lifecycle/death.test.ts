import { describe, it } from 'vitest'
import type { Pi } from '../../drivers/pi.ts'
import { groupAlive, processesNaming, waitUntil } from '../../drivers/processes.ts'
import { connected, createStage, misbehaving, TAPLINE } from '../stage.ts'

/** What the issue allows between the death of pi and that of its servers. */
const GRACE_MS = 5_000

const CRASH = `
  pi.registerCommand('throw', { handler: async () => void setImmediate(() => { throw new Error('on purpose') }) })`

const deaths: Record<string, (pi: Pi) => unknown> = {
  SIGTERM: (pi) => pi.kill('SIGTERM'),
  SIGKILL: (pi) => pi.kill('SIGKILL'),
  SIGHUP: (pi) => pi.kill('SIGHUP'),
  'the end of its input': (pi) => pi.close(),
  'an uncaught exception': (pi) => pi.send('prompt', { message: '/throw' }),
}

describe('the death of the real pi', () => {
  it.concurrent.for(Object.keys(deaths))(
    'by %s leaves no process of a server behind',
    async (death, { expect }) => {
      await using stage = await createStage()
      const [meek, stubborn] = [stage.log('meek'), stage.log('stubborn')]
      stage.json({ meek: misbehaving('--log', meek.path) })
      stage.toml({ stubborn: misbehaving('--log', stubborn.path, '--ignore-term', '--grandchild') })
      const pi = await stage.start({ extensions: [TAPLINE, stage.extension('crash', CRASH)] })
      await connected(pi, 'meek', 'stubborn')
      const groups = [...meek.pids(), ...stubborn.pids()]
      expect(groups.map(groupAlive)).toEqual([true, true])

      await Promise.resolve(deaths[death]!(pi)).catch(() => undefined)
      await pi.exited
      await waitUntil(() => !groups.some(groupAlive), GRACE_MS, `the groups ${groups.join(' and ')} to end`)
      // Nor anything else, such as the reaper.
      const left = () => processesNaming(stage.scratch.root).map(({ cmdline }) => cmdline)
      await waitUntil(
        () => left().length === 0,
        GRACE_MS,
        () => `nothing to be left: ${left().join('; ')}`,
      )
    },
  )
})

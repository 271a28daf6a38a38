import { describe, expect, it } from 'vitest'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { startSource } from '../pushes/source.ts'
import { createStage, PATIENCE_MS, TAPLINE, type Stage } from '../stage.ts'

const open = ({ scratch, model }: Stage): Promise<Terminal> => {
  const prepared = preparePi({ scratch, model, args: ['-e', TAPLINE] })
  return startTerminal({ ...prepared, columns: 80, rows: 30 })
}

describe('the panel of pushes in pi’s own interface', () => {
  it('draws what arrives above the editor, stays for the next session, and goes when it is turned off', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, push: { default: 'log' } } })
    {
      await using terminal = await open(stage)
      await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
      await source.heard()
      // What came before it was shown is in it too.
      for (const key of ['a', 'b', 'c']) await source.push(key)
      await terminal.submit('/triggers panel on')
      const screen = await terminal.waitForScreen(/web .*█ 3 *$/m, PATIENCE_MS)
      expect(screen).toMatch(/^ pushes, last hour *\n {3}web {18}▁{29}█ 3 *$/m)
      expect(screen).toMatch(/^ {3}rules 0\/0 · running 0 of \d+ · queue 0 *$/m)
      for (const line of screen.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
      await source.push('d')
      await terminal.waitForScreen(/web .*█ 4 *$/m, PATIENCE_MS)
    }
    await using terminal = await open(stage)
    await terminal.waitForScreen(/^ pushes, last hour *\n {3}web {18}▁{30} 0 *$/m, PATIENCE_MS)
    await terminal.submit('/triggers panel off')
    await terminal.waitForScreen((screen) => !screen.includes('pushes, last hour'), PATIENCE_MS)
    expect(stage.model.requests()).toEqual([])
  })
})

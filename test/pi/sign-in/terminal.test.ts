import { expect, it } from 'vitest'
import { arrive } from '../../drivers/browser.ts'
import { startFakeModel } from '../../drivers/fake-model.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { createSignInStage } from '../../sign-in/stage.ts'
import { PATIENCE_MS, TAPLINE } from '../stage.ts'

it('signs in at a terminal: the address, a dialog that waits, Esc, and a browser that answers', async () => {
  await using stage = await createSignInStage()
  stage.entry('hub')
  const model = await startFakeModel()
  const prepared = preparePi({ scratch: stage.scratch, model, env: stage.env, args: ['-e', TAPLINE] })
  await using terminal = await startTerminal({ ...prepared, columns: 80, rows: 40 })
  await terminal.waitForScreen(/tapline login hub/, PATIENCE_MS)

  await terminal.submit('/mcp login hub')
  await stage.opened(1)
  const waiting = await terminal.waitForScreen(/Waiting for you to sign in to "hub"/, PATIENCE_MS)
  expect(waiting).toMatch(/Sign in to MCP server "hub" in your browser:\s+http:\/\/127\.0\.0\.1:\d+\/auth\?/)
  expect(Math.max(...waiting.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  await terminal.key('Escape')
  await terminal.waitForScreen(/Sign-in cancelled\./, PATIENCE_MS)

  await terminal.submit('/mcp login hub')
  const [, address = ''] = await stage.opened(2)
  await arrive(await stage.browser.approve(address))
  const done = await terminal.waitForScreen(/Signed in to MCP server "hub" \(1 tool\)\./, PATIENCE_MS)
  // The dialog is gone.
  expect(done).not.toContain('Waiting for you')
  await model.close()
})

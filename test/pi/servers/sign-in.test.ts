import { expect, it } from 'vitest'
import { arrive } from '../../drivers/browser.ts'
import { startFakeModel } from '../../drivers/fake-model.ts'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { createSignInStage } from '../../sign-in/stage.ts'
import { PATIENCE_MS, TAPLINE } from '../stage.ts'

it('signs in and out from the panel: a browser that answers, a pasted address, and escape', async () => {
  await using stage = await createSignInStage()
  stage.entry('hub')
  await using model = await startFakeModel()
  const prepared = preparePi({ scratch: stage.scratch, model, env: stage.env, args: ['-e', TAPLINE] })
  await using terminal = await startTerminal({ ...prepared, columns: 80, rows: 30 })
  const seen = (match: RegExp): Promise<string> => terminal.waitForScreen(match, PATIENCE_MS)
  await seen(/tapline login hub/)
  await terminal.submit('/mcp')
  await seen(/^ › ! hub +needs sign-in: .*[^]*· s sign in ·/m)

  // Cancelled: nobody waits any more, and nothing is stored.
  await terminal.key('s')
  const [first = ''] = await stage.opened(1)
  const waiting = await seen(/^ Sign in to hub[^]*paste the address that it was sent to:\n >/m)
  expect(waiting.replaceAll(/\s/g, '')).toContain(first)
  for (const line of waiting.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  await terminal.key('Escape')
  await seen(/^ Sign-in cancelled\.$/m)

  // A browser on another machine: what it was sent to is pasted.
  await terminal.key('Enter')
  await seen(/^ › s {2}Sign in +opens your browser$/m)
  await terminal.key('Enter')
  const [, second = ''] = await stage.opened(2)
  await seen(/paste the address/)
  await terminal.type('\u001B[200~http://127.0.0.1/callback?code=x\u001B[201~')
  await seen(/^ > http:\/\/127\.0\.0\.1\/callback\?code=x$/m)
  await terminal.key('Enter')
  await seen(/^ That is another address\. The right one begins with http:\/\/127\.0\.0\.1:\d+\.$/m)
  const { href } = await stage.browser.approve(second)
  await terminal.type(`\u001B[200~${href}\n\u001B[201~`)
  await seen(new RegExp(`${href.slice(-20)}$`, 'm'))
  await terminal.key('Enter')
  await seen(/^ hub {2}connected · 1 tool$[^]*^ Signed in to MCP server "hub" \(1 tool\)\.$/m)
  expect(Object.values(stage.stored())[0]?.tokens).toHaveProperty('access_token')

  await seen(/^ {3}o {2}Sign out +deletes what is stored, for pi too$/m)
  await terminal.key('o')
  await seen(/^ hub {2}needs sign-in$[^]*^ Signed out of MCP server "hub"\.$/m)
  expect(Object.values(stage.stored())[0]?.tokens).toBeUndefined()

  // A browser here answers by itself.
  await terminal.key('s')
  const [, , third = ''] = await stage.opened(3)
  await arrive(await stage.browser.approve(third))
  const done = await seen(/^ hub {2}connected · 1 tool$[^]*^ Signed in to MCP server "hub" \(1 tool\)\.$/m)
  expect(done).not.toContain('Sign in to hub')
  expect(model.requests()).toEqual([])
})

import { expect, it } from 'vitest'
import { createStage, noticed, serversShow } from '../stage.ts'

/** A server that answers everything but `tools/list`, which it fails until the file `mended` exists. */
const SERVER = `
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
const methods = {
  initialize: ({ protocolVersion }) => ({
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'unlistable', version: '1' } },
  }),
  'tools/list': () =>
    existsSync(process.argv[2])
      ? { result: { tools: [{ name: 'mended', inputSchema: { type: 'object' } }] } }
      : { error: { code: -32603, message: 'The list is on holiday.' } },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const answer = methods[method]?.(params) ?? { error: { code: -32601, message: 'Method not found' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})`

it('a server that cannot list its tools says why in /mcp, until it can', async () => {
  await using stage = await createStage()
  const script = stage.scratch.write('unlistable.mjs', SERVER)
  stage.toml({ odd: { command: process.execPath, args: [script, `${stage.scratch.root}/mended`] } })
  const pi = await stage.start()
  await serversShow(pi, /odd: connected · 0 tools/, /! tools\/list failed: .*The list is on holiday\./)
  expect(await noticed(pi, /tools\/list/)).toMatch(
    /^mcp server 'odd' failed: tools\/list failed: .*holiday\./,
  )
  stage.scratch.write('mended', '')
  await pi.command('/mcp reconnect odd')
  expect(await serversShow(pi, /odd: connected · 1 tool$/m)).not.toContain('failed')
})

import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const PLAIN = {
  files: { command: 'npx', args: ['-y', 'server-filesystem', '~/notes'], env: { KEY: '${KEY}' } },
  remote: { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Key': '!pass show key' } },
  more: { command: 'x', cwd: '.', enabled: false, timeout: 30, exposure: 'direct', push: { default: 'run' } },
}

function validatorIsLoaded(): boolean {
  return Object.keys(createRequire(import.meta.url).cache).some((path) => /[\\/]ajv[\\/]/.test(path))
}

test('the validator is loaded when an entry needs it, and what most people write does not', async () => {
  const place = createPlace()
  const state = await place.read({ user: { mcpServers: PLAIN }, project: { mcpServers: PLAIN } })
  expect(state.servers.map(({ name }) => name)).toEqual(['files', 'remote', 'more'])
  expect(messages(state)).toEqual([])
  expect(validatorIsLoaded()).toBe(false)

  const odd = await place.read({ user: { mcpServers: { files: { ...PLAIN.files, timout: 3 } } } })
  expect(messages(odd)).toEqual([expect.stringContaining('"timout"')])
  expect(validatorIsLoaded()).toBe(true)
})

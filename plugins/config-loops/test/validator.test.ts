import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const PLAIN = `
[[server]]
name = "builds"
command = "node"
args = ["builds.mjs", "--every", "5"]
env = { KEY = "x" }
inject_summary = true

[[server]]
name = "notes"
command = "notes"
push = { default = "run" }
request_timeout_ms = 5000
`

function validatorIsLoaded(): boolean {
  return Object.keys(createRequire(import.meta.url).cache).some((path) => /[\\/]ajv[\\/]/.test(path))
}

test('the validator is loaded when an entry needs it, and what most people write does not', async () => {
  const place = createPlace()
  const state = await place.read({ user: PLAIN })
  expect(state.servers.map(({ name }) => name)).toEqual(['builds', 'notes'])
  expect(messages(state)).toEqual([])
  expect(validatorIsLoaded()).toBe(false)

  const odd = await place.read({ user: `${PLAIN}comand = "x"\n` })
  expect(messages(odd)).toEqual([expect.stringContaining('"comand"')])
  expect(validatorIsLoaded()).toBe(true)
})

import { chownSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { files } from '@tapline/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenFile } from '../src/tokens/file.ts'
import { faultOf } from '../src/tokens/safety.ts'
import type { Stored } from '../src/tokens/stored.ts'
import { createPlace } from './place.ts'

const URL_1 = 'https://one.example/mcp'
const owner = { name: 'hub-1', url: URL_1 }
const KEY = `mcp__hub_1|${URL_1}`
const tokens = { access_token: 'access-secret', token_type: 'Bearer', refresh_token: 'refresh-secret' }
const stored: Stored = { serverUrl: URL_1, tokens }

function open() {
  const place = createPlace()
  const warnings: string[] = []
  const file = new TokenFile(place.path, files, (message) => warnings.push(message))
  return { place, file, warnings }
}

test('stores under pi’s key, privately, and leaves every other entry alone', async () => {
  const { place, file } = open()
  const others = { 'mcp__other|https://x/': { serverUrl: 'https://x/', odd: [1] }, strange: 3 }
  place.store(others)
  await file.change(owner, () => stored)
  expect(place.stored()).toEqual({ ...others, [KEY]: stored })
  expect(statSync(place.path).mode & 0o777).toBe(0o600)
  expect(await file.read(owner)).toEqual(stored)
  expect(await file.read({ ...owner, url: 'https://one.example/other' })).toBeUndefined()
  expect(await file.remove(owner)).toBe(true)
  expect(await file.remove(owner)).toBe(false)
  expect(place.stored()).toEqual(others)
})

test('makes the file when there is none, with permissions for its owner alone', async () => {
  const { place, file } = open()
  expect(await file.read(owner)).toBeUndefined()
  expect(await file.remove(owner)).toBe(false)
  await file.change(owner, () => stored)
  expect(statSync(place.path).mode & 0o777).toBe(0o600)
})

test('sees at once what another program has written, in place or by replacing the file', async () => {
  const { place, file } = open()
  place.store({ [KEY]: stored })
  expect(await file.read(owner)).toEqual(stored)
  place.store({ [KEY]: { ...stored, tokens: { ...tokens, access_token: 'access-fresh!' } } })
  expect((await file.read(owner))?.tokens?.access_token).toBe('access-fresh!')
  place.store({})
  expect(await file.read(owner)).toBeUndefined()
})

test('takes over what older versions of pi stored by address alone, once', async () => {
  const { place, file } = open()
  place.store({ [URL_1]: stored })
  expect(await file.read(owner)).toEqual(stored)
  expect(place.stored()).toEqual({ [KEY]: stored })
  expect(await file.read({ name: 'second', url: URL_1 })).toBeUndefined()
})

test.each([
  ['no JSON', '{"a":'],
  ['an array', '[]'],
  ['a number', '7'],
])('sets a file aside that holds %s, when something has to be stored', async (_what, content) => {
  const { place, file, warnings } = open()
  place.store(content)
  expect(await file.read(owner)).toBeUndefined()
  expect(readFileSync(place.path, 'utf8')).toBe(content)
  await file.change(owner, () => stored)
  expect(place.stored()).toEqual({ [KEY]: stored })
  const [aside] = readdirSync(place.agentDir).filter((name) => name.includes('unreadable'))
  expect(readFileSync(join(place.agentDir, aside ?? ''), 'utf8')).toBe(content)
  expect(warnings).toEqual([
    `${place.path} cannot be read and is not used; the next sign-in sets it aside.`,
    expect.stringMatching(/was set aside as .*unreadable/),
  ])
})

test('half a file, as pi writes it in place, is read again under the lock', async () => {
  const { place, file } = open()
  place.store('{"half":')
  const held = Promise.withResolvers<void>()
  const whole = Promise.withResolvers<void>()
  const writer = files.locked(place.path, async () => {
    held.resolve()
    await whole.promise
    place.store({ [KEY]: stored })
  })
  await held.promise
  const read = file.read(owner)
  whole.resolve()
  expect(await read).toEqual(stored)
  await writer
})

test('a file that others can write, or that is another user’s, is neither used nor changed', async () => {
  const { place, file, warnings } = open()
  place.store({ [KEY]: stored }, 0o666)
  expect(await file.read(owner)).toBeUndefined()
  await expect(file.change(owner, () => undefined)).rejects.toThrow(/can be written by other users/)
  await expect(file.remove(owner)).rejects.toThrow(`chmod 600 ${place.path}`)
  expect(place.stored()).toEqual({ [KEY]: stored })
  expect(warnings[0]).toContain('chmod 600')
  expect(faultOf(place.path, 4_711)).toMatchObject(process.getuid?.() === 0 ? { severity: 'refused' } : {})
  if (process.getuid?.() !== 0) return
  place.store({ [KEY]: stored }, 0o600)
  chownSync(place.path, 4_711, 4_711)
  expect(await file.read(owner)).toBeUndefined()
  await expect(file.change(owner, () => undefined)).rejects.toThrow(/belongs to another user/)
})

test('a file that others can read is used, said, and its permissions are left alone', async () => {
  const { place, file, warnings } = open()
  place.store({ [KEY]: stored }, 0o644)
  expect(await file.read(owner)).toEqual(stored)
  expect(warnings).toEqual([
    `${place.path} holds tokens and can be read by other users: chmod 600 ${place.path}`,
  ])
  await file.change(owner, (now) => now && { ...now, tokensExpireAt: 1 })
  expect(statSync(place.path).mode & 0o777).toBe(0o644)
})

test('a symbolic link stays one, and is locked where pi locks it', async () => {
  const { place, file } = open()
  const elsewhere = join(place.agentDir, 'elsewhere')
  mkdirSync(elsewhere)
  place.store({ [KEY]: stored })
  renameSync(place.path, join(elsewhere, 'tokens.json'))
  symlinkSync(join(elsewhere, 'tokens.json'), place.path)
  const order: string[] = []
  let change: Promise<unknown> | undefined
  await files.locked(join(elsewhere, 'tokens.json'), async () => {
    change = file.change(owner, (now) => {
      order.push('changed')
      return now && { ...now, tokensExpireAt: 2 }
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    order.push('released')
  })
  await change
  expect(order).toEqual(['released', 'changed'])
  expect(JSON.parse(readFileSync(join(elsewhere, 'tokens.json'), 'utf8'))).toMatchObject({
    [KEY]: { tokensExpireAt: 2 },
  })
  expect(readdirSync(place.agentDir)).toContain('mcp-auth.json')
})

test('whatever an entry holds, it is used as a whole one or not at all, and nothing is thrown', async () => {
  const { place, file } = open()
  const odd = fc.jsonValue({ maxDepth: 2 })
  const entry = fc.record(
    {
      serverUrl: fc.oneof(fc.constant(URL_1), odd),
      tokens: fc.oneof(
        odd,
        fc.record({
          access_token: fc.oneof(fc.string(), odd),
          token_type: odd,
          refresh_token: odd,
          expires_in: odd,
        }),
      ),
      tokensExpireAt: odd,
      clientInformation: fc.oneof(
        odd,
        fc.record({ client_id: fc.oneof(fc.string(), odd), redirect_uris: odd }),
      ),
      discovery: fc.oneof(
        odd,
        fc.record({ authorizationServerUrl: fc.oneof(fc.webUrl(), odd), authorizationServerMetadata: odd }),
      ),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(entry, odd), async (value) => {
      place.store({ [KEY]: value })
      const read = await file.read(owner)
      expect(read === undefined || isWhole(read)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

/** Whether every part that is there can be used without another look. */
function isWhole({ serverUrl, tokens, clientInformation, discovery }: Stored): boolean {
  const authorization = new Headers({ authorization: `Bearer ${tokens?.access_token ?? ''}` })
  return (
    serverUrl === URL_1 &&
    authorization.has('authorization') &&
    (clientInformation === undefined || typeof clientInformation.client_id === 'string') &&
    (discovery === undefined || URL.canParse(discovery.authorizationServerUrl))
  )
}

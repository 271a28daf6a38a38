import { expect, test } from 'vitest'
import { createPlace } from './place.ts'

const ENV = { ...process.env, SECRET: 's3cret' }

async function requestFor(entry: object, env: Readonly<Record<string, string | undefined>> = ENV) {
  const place = createPlace()
  const state = await place.read({ user: { mcpServers: { a: entry } } })
  return place.connect(state.servers[0]!, env)
}

test('others who read values of the entry have them filled in the same way', async () => {
  const request = await requestFor({ url: 'https://example.com/mcp', oauth: { clientSecret: '${SECRET}' } })
  expect(await request.resolve?.('${SECRET}', 'oauth.clientSecret')).toBe('s3cret')
  expect(await request.resolve?.('!echo from a command', 'oauth.clientSecret')).toBe('from a command')
  expect(await request.resolve?.('plain', 'oauth.clientSecret')).toBe('plain')
})

test('what cannot be filled in is said with its subject, and without the value', async () => {
  const request = await requestFor({ url: 'https://example.com/mcp' })
  await expect(request.resolve?.('${NOT_SET}', 'oauth.clientSecret')).rejects.toMatchObject({
    code: 'CREDENTIAL_MISSING',
    message: 'failed to resolve oauth.clientSecret from environment variable: NOT_SET',
  })
  await expect(request.resolve?.('!exit 3 # hidden', 'oauth.clientSecret')).rejects.toMatchObject({
    message: 'failed to resolve oauth.clientSecret (its command failed with exit code 3)',
  })
})

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { piCredentialStore } from '../../src/state/credentials.ts'
import { createPlace } from '../place.ts'
import { ofPi } from './pi.ts'

const { resolveConfigValue } = await ofPi<{
  resolveConfigValue(value: string, env: object): string | undefined
}>('core/resolve-config-value.js')

const SECRET = 'sk-very-secret-0815'

/** What the store gives for `hub` when the file holds this. */
async function stored(entry: unknown, env: Record<string, string> = {}): Promise<string | undefined> {
  const place = createPlace()
  place.write('agent/auth.json', { hub: entry })
  return piCredentialStore(place.paths.agentDir, { PATH: process.env['PATH'], ...env }).read('hub')
}

/** The error that reading gives, all that can be seen of it. */
async function refusal(read: () => Promise<unknown>): Promise<string> {
  const thrown = await read().then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(Error)
  return inspect(thrown, { depth: Infinity, showHidden: true })
}

describe('the credential store of pi', () => {
  it('has keys and tokens of every kind of entry', async () => {
    expect(await stored({ type: 'api_key', key: SECRET })).toBe(SECRET)
    expect(await stored({ type: 'oauth', access: SECRET, refresh: 'r', expires: Date.now() + 60_000 })).toBe(
      SECRET,
    )
    expect(await stored({ token: SECRET })).toBe(SECRET)
    expect(await stored(SECRET)).toBe(SECRET)
  })

  it('has nothing where there is nothing to use', async () => {
    for (const entry of [null, 5, true, {}, [], { key: 5 }, { access: null }]) {
      expect(await stored(entry)).toBeUndefined()
    }
    const place = createPlace()
    const store = piCredentialStore(place.paths.agentDir, {})
    expect(store.read('hub')).toBeUndefined()
    place.write('agent/auth.json', { other: { key: SECRET } })
    expect(store.read('hub')).toBeUndefined()
    expect(store.read('toString')).toBeUndefined()
    place.write('agent/auth.json', `\uFEFF${JSON.stringify({ hub: { key: SECRET } })}`)
    expect(store.read('hub')).toBe(SECRET)
  })

  it('says what is wrong, without what it holds', async () => {
    const expired = await refusal(() => stored({ access: SECRET, expires: Date.now() - 1 }))
    expect(expired).toContain('has expired; sign in again')
    const foreign = await refusal(() => stored({ key: `$${SECRET.replaceAll('-', '_')}` }))
    expect(foreign).toContain('only PI_MCP_TOKEN_* are read from the environment')
    const place = createPlace()
    place.write('agent/auth.json', `{ "hub": { "key": ${SECRET} } }`)
    const corrupt = await refusal(async () => piCredentialStore(place.paths.agentDir, {}).read('hub'))
    expect(corrupt).toContain('is not valid JSON')
    const failed = await refusal(() => stored({ key: `!echo ${SECRET}; echo ${SECRET} >&2; exit 3` }))
    expect(failed).toContain('the command that gives the stored credential failed')
    for (const text of [expired, foreign, corrupt, failed]) {
      expect(text).not.toContain('0815')
    }
  })

  it('cannot be read where a directory stands', async () => {
    const place = createPlace()
    mkdirSync(join(place.paths.agentDir, 'auth.json'))
    const text = await refusal(async () => piCredentialStore(place.paths.agentDir, {}).read('hub'))
    expect(text).toContain('auth.json cannot be read (EISDIR)')
  })

  it('fills in variables as pi does, of one prefix alone', async () => {
    const env = { PI_MCP_TOKEN_A: 'a-value', PI_MCP_TOKEN_B: 'b', HOME_TOKEN: SECRET }
    expect(await stored({ key: '$PI_MCP_TOKEN_A' }, env)).toBe('a-value')
    expect(await stored({ key: 'x${PI_MCP_TOKEN_A}$PI_MCP_TOKEN_B' }, env)).toBe('xa-valueb')
    expect(await stored({ key: '$PI_MCP_TOKEN_MISSING' }, env)).toBeUndefined()
    await expect(stored({ key: '${HOME_TOKEN}' }, env)).rejects.toThrow('names a variable')

    const part = fc.constantFrom(
      '$PI_MCP_TOKEN_A',
      '${PI_MCP_TOKEN_B}',
      '$PI_MCP_TOKEN_C',
      '$',
      '$$',
      '$!',
      'x',
    )
    const odd = fc.constantFrom('${', '}', '${1x}', '$1', '!', '-', '${}', ' ')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(part, odd), { minLength: 1, maxLength: 6 }), async (parts) => {
        const key = parts.join('')
        fc.pre(!key.startsWith('!'))
        // Pieces may make the name of another variable, which pi would read.
        const named = [...key.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name]) => name!)
        fc.pre(named.every((name) => /^PI_MCP_TOKEN_[ABC]$/.test(name)))
        expect(await stored({ key }, env)).toBe(resolveConfigValue(key, env))
      }),
      { numRuns: 200 },
    )
  })

  it('runs a command for a key, and never for a token that a server gave', async () => {
    expect(await stored({ key: `!printf ' %s\\n' ${SECRET}` })).toBe(SECRET)
    expect(await stored({ key: '!printf $GREETING' }, { GREETING: 'hello' })).toBe('hello')
    const place = createPlace()
    const mark = join(place.root, 'ran')
    for (const entry of [{ access: `!touch ${mark}` }, { token: `!touch ${mark}` }]) {
      expect(await stored(entry)).toBe(`!touch ${mark}`)
    }
    expect(existsSync(mark)).toBe(false)
  })

  it('ends a command that does not end, with all that it started', async () => {
    const place = createPlace()
    const pids = join(place.root, 'pids')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const reading = refusal(() => stored({ key: `!sleep 1000 & echo $! > ${pids}; wait` }))
    const pid = await vi.waitFor(() => Number(/^(\d+)\n/.exec(readFileSync(pids, 'utf8'))![1]))
    expect(isRunning(pid)).toBe(true)
    vi.advanceTimersByTime(10_000)
    expect(await reading).toContain('failed')
    vi.useRealTimers()
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
  })

  it('gives up on a command that prints too much', async () => {
    expect(await refusal(() => stored({ key: '!yes 0123456789' }))).toContain('failed')
  })
})

/** Whether a process is there and not only waiting to be collected. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

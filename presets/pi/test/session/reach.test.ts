import type { SessionStatus } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { assertReachable, unsettled } from '../../src/session/reach.ts'

type Given = Partial<SessionStatus> & { readonly unreachable?: string; readonly listed?: boolean }

/** A server that stands like this, and how often somebody wanted it. */
function server({ unreachable, listed = false, ...status }: Given): Server & { wanted: number } {
  const made = {
    spec: { name: 'docs', reconnect: { maxAttempts: 5 } },
    session: {
      status: { state: 'pending', attempt: 0, report: {}, ...status },
      ready: () => {
        made.wanted += 1
        return Promise.reject(new Error('still away'))
      },
    },
    unreachable,
    listed,
    wanted: 0,
  }
  return made as unknown as Server & { wanted: number }
}

describe('a call of a server', () => {
  it.each<[string, Given, string]>([
    [
      'that is tried again later',
      { state: 'reconnecting', attempt: 2, unreachable: 'connection refused' },
      '(reconnecting, attempt 2 of 5): connection refused. Nothing was sent to it; it is being tried again now.',
    ],
    [
      'that is tried again now',
      { state: 'connecting', attempt: 3, unreachable: 'it said nothing' },
      '(connecting, attempt 3 of 5): it said nothing. Nothing was sent',
    ],
    [
      'that was given up',
      { state: 'disconnected', attention: 'Start it, then /mcp reconnect.', unreachable: 'gave up' },
      '(disconnected): gave up. Nothing was sent to it; it is being tried again now. Start it, then /mcp reconnect.',
    ],
    [
      'that wants a sign-in',
      { state: 'auth_failed', signIn: true, attention: 'Run /mcp login docs.', unreachable: 'HTTP 401' },
      '(needs sign-in): HTTP 401. Nothing was sent to it; it is being tried again now. Run /mcp login docs.',
    ],
    [
      'that takes no credential of ours',
      { state: 'auth_failed', unreachable: 'HTTP 403' },
      '(failed): HTTP 403. Nothing',
    ],
    [
      'that says a lot',
      { state: 'reconnecting', attempt: 1, unreachable: `\u001B[31mgone\n\n\u202E${'x'.repeat(5_000)}` },
      '(reconnecting, attempt 1 of 5): gone xxx',
    ],
  ])('%s fails at once, says where it stands, and has it tried again', (_what, given, words) => {
    const gone = server(given)
    let message = ''
    try {
      assertReachable(gone)
    } catch (thrown) {
      message = (thrown as Error).message
    }
    expect(message).toContain(`MCP server "docs" is not connected ${words}`)
    expect(message.length).toBeLessThan(1_300)
    expect(gone.wanted).toBe(1)
  })

  it.each<Given>([
    { state: 'pending' },
    { state: 'connecting', attempt: 1 },
    { state: 'connected' },
    // Its connection was lost a moment ago.
    { state: 'reconnecting', attempt: 1, reason: 'it exited' },
  ])('that may be there in a moment waits for it: %o', (given) => {
    const there = server(given)
    assertReachable(there)
    expect(there.wanted).toBe(0)
  })
})

it('scripts wait for servers that may soon offer something, and not for those that are down', () => {
  const stands: readonly [Given, boolean][] = [
    [{ state: 'pending' }, true],
    [{ state: 'connecting', attempt: 1 }, true],
    [{ state: 'connecting', attempt: 2, unreachable: 'refused' }, false],
    [{ state: 'connected' }, true],
    [{ state: 'connected', listed: true }, false],
    [{ state: 'reconnecting', attempt: 1, unreachable: 'refused' }, false],
    [{ state: 'disconnected', unreachable: 'refused' }, false],
  ]
  for (const [given, waits] of stands)
    expect([given, unsettled([server(given)]).length > 0]).toEqual([given, waits])
})

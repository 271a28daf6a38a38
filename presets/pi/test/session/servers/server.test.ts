import { describe, expect, it } from 'vitest'
import { createServerPage } from '../../../src/session/servers/server/page.ts'
import { book, type Scope, scopeOf, server, show, type Shown, type Told, tool } from './stage.ts'

const border = '─'.repeat(80)

function pageOf(told: Told, more: Partial<Scope> = {}, trusted = true): Shown & { scope: Scope } {
  const scope = scopeOf([server('hub', told)], more)
  return { ...show(scope, { trusted, page: (panel) => createServerPage(panel, 'hub') }), scope }
}

const entries = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^ [› ] ([a-z]) {2}(\S.*?)(?: {2}|$)/.exec(line)?.slice(1, 3).join(' ') ?? [])
const isPointed = (lines: readonly string[]): string | undefined =>
  lines.find((line) => line.startsWith(' ›'))?.slice(3, 4)

describe('the page of a server', () => {
  it('says where it stands, what it offers, and what can be done', () => {
    const told: Told = {
      tools: [tool('a'), tool('b', { title: 'broken' })],
      status: {
        capabilities: { resources: {}, prompts: {} },
        report: { lastStderr: 'listening', stderrTail: 'listening', pushStream: 'open' },
        serverInfo: { name: 'hub-server', version: '1.2.0' },
      },
    }
    const books = new Map([
      ['hub', book({ received: 3, delivered: 2, dropped: 1, lastEventAt: Date.now() - 125_000 })],
    ])
    expect(pageOf(told, { books }).lines()).toEqual([
      border,
      ' hub  connected · 1 tool',
      ' stdio: node server.mjs',
      ' user: ~/.pi/agent/mcp.json:3',
      '',
      ' › t  Tools                    2 offered, 1 usable',
      '   u  Resources                listed when you open it',
      '   p  Prompts                  not known yet',
      '   n  Pushes                   3 pushes, last 2 min ago: 2 delivered, 1 dropped',
      '   c  Connection               2025-11-25 (legacy), push stream open, hub-serve…',
      '   e  Stderr                   listening',
      '   l  Log                      what it logs, as it comes',
      '   r  Reconnect                drops the connection and opens a new one',
      '   x  Exposure                 codemode',
      '   d  Disable                  saved in ~/.pi/agent/mcp.json',
      '   w  Disable in this project  saved in .pi/mcp.json',
      '',
      ' ↑↓ move · enter open · esc back',
      border,
    ])
  })

  it('has the whole reason of a failure and what to do, and begins with what helps', () => {
    const reason = 'server exited with code 3\nstderr: one\ntwo'
    const shown = pageOf({
      status: {
        state: 'disconnected',
        attempt: 20,
        reason,
        attention: 'Fix the entry, then reconnect.',
        report: {},
      },
    })
    expect(shown.lines().slice(1, 10)).toEqual([
      ' hub  disconnected',
      ' stdio: node server.mjs',
      ' user: ~/.pi/agent/mcp.json:3',
      ' server exited with code 3',
      ' stderr: one',
      ' two',
      ' Fix the entry, then reconnect.',
      '',
      ' › r  Reconnect                tries again now',
    ])
    expect(entries(shown.lines())).not.toContain('u Resources')
    // Where there is little room, the page of the connection has it.
    expect(shown.lines(80, 24)).not.toContain(' two')
    shown.type('c')
    expect(shown.lines(80, 24).join('\n')).toMatch(
      /reason +server exited with code 3\n +stderr: one\n +two\n/,
    )
  })

  it('offers to sign in where that is what is missing, and to sign out where somebody is signed in', async () => {
    const http = {
      transport: {
        type: 'streamable-http' as const,
        url: 'https://a.example/mcp',
        headers: {},
        sseIdleTimeoutMs: 1,
        bodyCapBytes: 1,
      },
    }
    let isSignedIn = false
    const signIns = { uses: () => true, isSignedIn: () => Promise.resolve(isSignedIn) }
    const waiting = pageOf(
      { spec: http, status: { state: 'auth_failed', reason: 'no', signIn: true } },
      { signIns },
    )
    expect(entries(waiting.lines()).slice(0, 2)).toEqual(['s Sign in', 't Tools'])
    await new Promise((resolve) => setImmediate(resolve))
    expect(entries(waiting.lines())).not.toContain('o Sign out')
    const unheard = pageOf({ spec: http, status: { reason: 'no', signIn: true } }, { signIns })
    expect(entries(unheard.lines())).toContain('s Sign in')
    isSignedIn = true
    const inside = pageOf({ spec: http }, { signIns })
    expect(entries(inside.lines())).not.toContain('o Sign out')
    expect(entries(await inside.until(/Sign out/))).toContain('s Sign in again')
    expect(entries(inside.lines())).not.toContain('e Stderr')
    expect(entries(pageOf({ spec: http, status: { state: 'auth_failed' } }).lines())[0]).toBe('r Reconnect')
  })

  it('changes a server where it can be changed, and says where that is saved', async () => {
    const override = {
      label: '~/.pi/agent/mcp.json',
      scope: 'user',
      path: '/home/me/.pi/agent/mcp.json',
    } as const
    const detail = (told: Told, trusted = true): string[] =>
      pageOf(told, {}, trusted)
        .lines()
        .flatMap((line) => /^ [› ] [dw] {2}(.*)$/.exec(line)?.[1]?.replace(/ {2,}/, ': ') ?? [])
    expect(detail({ spec: { source: { ...override, override: '/home/me/app/.pi/mcp.json' } } })).toEqual([
      'Disable: saved in .pi/mcp.json',
    ])
    expect(detail({}, false)).toEqual(['Disable: saved in ~/.pi/agent/mcp.json'])
    expect(detail({ spec: { source: { label: 'ext.ts', scope: 'session' } } })).toEqual([
      'Disable: for this session',
    ])
    expect(detail({ spec: { enabled: false }, status: { state: 'disabled' } })).toEqual([
      'Enable: saved in ~/.pi/agent/mcp.json',
      'Enable in this project: saved in .pi/mcp.json',
    ])
    const shown = pageOf({})
    shown.type('w')
    expect(shown.lines()).toContain(' Disabling "hub"…')
    await shown.until(/Saved to/)
    expect(shown.scope.changes).toEqual([['hub', { enabled: false }, 'project']])
  })

  it('says which file cannot be written, and why', async () => {
    const refused = Object.assign(
      new Error("EPERM: operation not permitted, rename '/a.tmp' -> '/a/mcp.json'"),
      {
        code: 'EPERM',
        syscall: 'rename',
        path: '/a.tmp',
        dest: '/a/mcp.json',
      },
    )
    const shown = pageOf({}, { change: () => Promise.reject(refused) })
    shown.type('d')
    const lines = await shown.until(/was not changed/)
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(
      'MCP server "hub" was not changed: /a/mcp.json cannot be written (EPERM: operation not permitted).',
    )
  })

  it('stays usable while something is done, does one thing at a time, and tells what came of it', async () => {
    const opening = Promise.withResolvers<void>()
    const shown = pageOf({ reconnect: () => opening.promise, tools: [tool('a')] })
    shown.type('r')
    expect(shown.lines()).toContain(' Reconnecting "hub"…')
    shown.type('d')
    expect(shown.lines()).toContain(' Not yet: Reconnecting "hub"…')
    expect(shown.scope.changes).toEqual([])
    shown.type('t')
    expect(shown.lines()[1]).toBe(' Tools of hub  1 tool')
    shown.press('escape')
    opening.reject(new Error('the port is closed'))
    await shown.until(/mcp server 'hub' failed: the port is closed/)
    shown.scope.change = () =>
      Promise.reject(new Error('mcp.json was not changed: it is not valid; fix it first.'))
    shown.type('d')
    await shown.until(/mcp.json was not changed: it is not valid; fix it first\./)
  })

  it('tells afterwards what came of what was begun, and is still when the session has ended', async () => {
    for (const ended of [false, true]) {
      const opening = Promise.withResolvers<void>()
      const shown = pageOf({ reconnect: () => opening.promise })
      shown.lines()
      shown.type('r')
      if (!ended) shown.press('escape')
      shown.panel.dispose()
      opening.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      expect(shown.told.map(({ text }) => text)).toEqual(
        ended ? [] : ['MCP server "hub" is connected (0 tools).'],
      )
      expect(shown.isDone()).toBe(!ended)
      // Nothing is drawn or done any more.
      shown.type('r')
      shown.press('escape')
      expect(shown.isDone()).toBe(!ended)
    }
  })

  it('keeps what is selected when entries come and go, and says when the server is gone', () => {
    const shown = pageOf({ status: { capabilities: { resources: {} } } })
    shown.press('down', 'down', 'down')
    expect(isPointed(shown.lines())).toBe('c')
    shown.scope.servers = [server('hub', { status: { state: 'connecting' } })]
    expect(isPointed(shown.lines())).toBe('c')
    shown.scope.servers = []
    expect(shown.lines()).toContain(' This server is no longer configured.')
    shown.press('enter', 'down')
    shown.type('r', 't')
    expect(shown.lines()).toContain(' This server is no longer configured.')
  })

  it('shows on one line, and as it is, what a server calls itself', () => {
    const shown = pageOf({
      status: {
        serverInfo: { name: 'evil\u001B[2J\u202E', version: '\n1' },
        report: { lastStderr: '\u001B]0;x\u0007 hi\u009B' },
        reason: 'x',
      },
    })
    expect(shown.lines().join('\n')).toMatch(/Connection +2025-11-25 \(legacy\), evil +1$/m)
  })
})

describe('the page of an exposure', () => {
  it('begins with what is, and saves what is chosen where that was said', async () => {
    const shown = pageOf({ spec: { exposure: 'direct', toolExposure: { a: 'hidden' } } })
    shown.type('x')
    expect(shown.lines().slice(1, 9)).toEqual([
      ' Exposure of hub  saved in ~/.pi/agent/mcp.json',
      ' 1 entry of toolExposure says otherwise for some tools.',
      '',
      '     codemode  callable from codemode scripts',
      '     deferred  found and loaded with tool_search',
      ' › • direct    declared to the model',
      '     hidden    unreachable',
      '',
    ])
    shown.press('tab')
    expect(shown.lines()[1]).toBe(' Exposure of hub  saved in .pi/mcp.json')
    shown.press('down', 'enter')
    await shown.until(/Saved to/)
    expect(shown.scope.changes).toEqual([['hub', { exposure: 'hidden' }, 'project']])
  })

  it('saves nothing when it is left, or when nothing is different', () => {
    const shown = pageOf({})
    shown.type('x')
    shown.press('escape')
    shown.type('x')
    shown.press('enter')
    expect(shown.lines()[1]).toMatch(/^ hub /)
    expect(shown.scope.changes).toEqual([])
    const untrusted = pageOf({}, {}, false)
    untrusted.type('x')
    untrusted.press('tab', 'down', 'enter')
    expect(untrusted.scope.changes).toEqual([['hub', { exposure: 'deferred' }, 'here']])
  })
})

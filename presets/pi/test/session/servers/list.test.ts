import { describe, expect, it } from 'vitest'
import { book, scopeOf, server, show, tool } from './stage.ts'

const border = '─'.repeat(80)
const attempts = { attempt: 2, report: {} }

const everything = () => [
  server('off', { spec: { enabled: false }, status: { state: 'disabled' } }),
  server('hub', { tools: [tool('a'), tool('b')], spec: { exposure: 'direct' } }),
  server('beta', { status: { state: 'connecting', ...attempts } }),
  server('back', { status: { state: 'reconnecting', reason: 'server exited with code 3', ...attempts } }),
  server('down', {
    status: { state: 'disconnected', reason: 'failed to spawn', attention: 'Install it.', ...attempts },
  }),
  server('alpha', { tools: [tool('a')], status: { era: 'modern', protocolVersion: '2026-07-28' } }),
  server('web', {
    status: {
      state: 'auth_failed',
      reason: 'The server wants you to sign in.',
      attention: 'Sign in.',
      signIn: true,
      ...attempts,
    },
    spec: {
      dialect: 'mcp.toml',
      source: { label: '.pi/mcp.toml', scope: 'project', path: '/home/me/app/.pi/mcp.toml', line: 9 },
      transport: {
        type: 'streamable-http',
        url: 'https://me:hunter22@web.example/mcp?key=abcdefgh',
        headers: {},
        sseIdleTimeoutMs: 1,
        bodyCapBytes: 1,
      },
    },
  }),
  server('mute', { listError: 'tools/list failed: no' }),
]

const names = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^ [› ] [•!×↻…∘] (\S+)/.exec(line)?.[1] ?? [])
const pointed = (lines: readonly string[]): string | undefined =>
  lines.find((line) => line.startsWith(' ›'))?.split(/\s+/)[3]

describe('the list of servers', () => {
  it('shows what needs somebody first, in columns, and what is known of the selected one', () => {
    const scope = scopeOf(everything())
    scope.books.set('hub', book({ received: 12, delivered: 12, lastEventAt: Date.now() - 3_700_000 }))
    const shown = show(scope)
    expect(shown.lines()).toEqual([
      border,
      ' MCP servers  3 of 7 connected, 3 need attention',
      '     server  state                    exposure  source            era     pushes',
      ' › ! web     needs sign-in: The ser…  codemode  project mcp.toml',
      '   × down    disconnected: failed t…  codemode  user',
      '   ! mute    connected, but tools/l…  codemode  user              legacy',
      '   ↻ back    reconnecting (attempt…   codemode  user',
      '   … beta    connecting… (attempt 2)  codemode  user',
      '   • alpha   connected · 1 tool       codemode  user              modern',
      '   • hub     connected · 2 tools      direct    user              legacy  12',
      '   ∘ off     disabled                 codemode  user',
      '',
      ' The server wants you to sign in.',
      ' Sign in.',
      ' http: https://web.example/mcp?…',
      ' project: .pi/mcp.toml:9',
      '',
      ' enter open · r reconnect · x exposure · d disable · / find · esc close',
      border,
    ])
    shown.press('end', 'up')
    expect(shown.lines().slice(-6)).toEqual([
      '',
      ' stdio: node server.mjs',
      ' user: ~/.pi/agent/mcp.json:3 · 2025-11-25 (legacy) · 12 pushes, last 1 h ago',
      '',
      ' enter open · r reconnect · x exposure · d disable · / find · esc close',
      border,
    ])
  })

  it('has a connected server whose pushes are refused among those that need somebody', () => {
    const reason = 'its pushes do not arrive: The server wants you to sign in.'
    const unheard = { reason, attention: 'Sign in with /mcp login hub.', signIn: true as const }
    const lines = show(scopeOf([server('a'), server('hub', { status: unheard })])).lines()
    expect(lines[1]).toBe(' MCP servers  2 of 2 connected, 1 needs attention')
    expect(lines[3]).toMatch(/^ › ! hub +connected, but its/)
    expect(lines.slice(6, 8)).toEqual([` ${reason}`, ' Sign in with /mcp login hub.'])
  })

  it('gives up columns where the terminal is narrow, and names last', () => {
    const shown = show(scopeOf(everything()))
    const row = (width: number): string | undefined =>
      shown.lines(width).find((line) => line.includes('alpha'))
    expect(row(100)).toMatch(/alpha +connected · 1 tool +codemode +user +modern$/)
    expect(row(60)).toMatch(/alpha +connected · 1 tool +codemode$/)
    expect(row(40)).toBe('   • alpha   connected · 1 tool')
    expect(row(20)).toMatch(/^ {3}• alpha +con.*…$/)
    expect(row(10)).toMatch(/^ {3}• alph/)
  })

  it('says how to begin where there is nothing', () => {
    expect(show(scopeOf([])).lines()).toEqual([
      border,
      ' MCP servers',
      '',
      ' No MCP servers are configured. Add one in a shell with "pi mcp add", or write',
      ' it into ~/.pi/agent/mcp.json or .pi/mcp.json; then /mcp reload.',
      '',
      ' esc close',
      border,
    ])
  })

  it('keeps what is selected when it moves in the list, and when others come and go', () => {
    const scope = scopeOf([server('a'), server('b'), server('c')])
    const shown = show(scope)
    shown.press('down')
    expect(pointed(shown.lines())).toBe('b')
    scope.servers = [
      server('a'),
      server('b', { status: { state: 'disconnected' } }),
      server('c'),
      server('d'),
    ]
    expect(names(shown.lines())).toEqual(['b', 'a', 'c', 'd'])
    expect(pointed(shown.lines())).toBe('b')
    shown.press('down')
    expect(pointed(shown.lines())).toBe('a')
    scope.servers = [server('c'), server('b')]
    expect(pointed(shown.lines())).toBe('c')
    scope.servers = []
    expect(shown.lines().join('\n')).toContain('No MCP servers')
    shown.press('down', 'enter')
    shown.type('r', 'd', 'x')
  })

  it('pages through more servers than there are rows', () => {
    const many = Array.from({ length: 60 }, (_, n) => server(`s${String(n).padStart(2, '0')}`))
    const shown = show(scopeOf(many))
    expect(names(shown.lines(80, 24))).toHaveLength(9)
    expect(shown.lines(80, 24)).toContain('   1 to 9 of 60')
    shown.press('pageDown')
    expect(pointed(shown.lines(80, 24))).toBe('s09')
    shown.press('end', 'pageUp')
    expect(pointed(shown.lines(80, 24))).toBe('s50')
    shown.press('home')
    expect(pointed(shown.lines(80, 24))).toBe('s00')
    expect(names(shown.lines(80, 60))).toHaveLength(20)
  })

  it('is searched by typing, by name, state, exposure and source', () => {
    const shown = show(scopeOf(everything()))
    shown.press('end')
    shown.type('/', 'U', 's')
    expect(pointed(shown.lines())).toBe('off')
    shown.press('backspace', 'backspace')
    shown.type('a')
    expect(names(shown.lines())).toEqual(['web', 'back', 'beta', 'alpha', 'off'])
    shown.press('backspace')
    shown.type('H', 'u')
    expect(names(shown.lines())).toEqual(['hub'])
    expect(shown.lines()).toContain(' / Hu')
    shown.press('backspace', 'backspace')
    shown.type('t', 'o', 'm', 'l')
    expect(names(shown.lines())).toEqual(['web'])
    shown.type('x')
    expect(shown.lines()).toContain(' No server fits that.')
    shown.press('escape')
    expect(names(shown.lines())).toHaveLength(8)
    expect(shown.isDone()).toBe(false)
    shown.press('escape')
    expect(shown.isDone()).toBe(true)
  })

  it('tells what is wrong with files above, shortly where there is no room, and wholly on a page of its own', () => {
    const scope = scopeOf([server('a')])
    scope.diagnostics = [
      { severity: 'info', message: 'worth knowing' },
      { severity: 'error', message: `one ${'and so on '.repeat(40)}` },
      { severity: 'warning', message: 'two' },
      { severity: 'warning', message: 'two' },
    ]
    scope.problems = ['three', 'four']
    const shown = show(scope)
    const above = shown.lines().filter((line) => /^ [! ] {1,2}[a-z]/.test(line))
    expect(above[0]).toMatch(/^ ! one and so on/)
    expect(above[2]).toMatch(/^ {3}.*and so on .*…$/)
    expect(above.slice(3)).toEqual([' ! two', ' ! three', '   and 1 more'])
    const low = shown.lines(80, 24)
    expect(low.slice(2, 6)).toEqual([above[0], above[1], above[2], '   and 3 more'])
    expect(shown.lines(80, 14)).toContain(' ! 4 problems')
    expect(shown.lines().join('\n')).toContain('p problems')
    shown.type('p')
    const whole = shown.lines().join('\n')
    expect(whole).toMatch(/^ Problems$/m)
    expect(whole.replaceAll(/\s+/g, ' ').match(/and so on/g)).toHaveLength(40)
    expect(whole).toMatch(/ ! four\n · worth knowing/)
    scope.diagnostics = []
    scope.problems = []
    expect(shown.lines().join('\n')).toContain('There is nothing wrong any more.')
    shown.press('escape')
    expect(shown.lines().join('\n')).not.toContain('problems')
  })

  it('has room for servers, and says how to leave, however much is wrong', () => {
    const many = Array.from({ length: 60 }, (_, n) => server(`s${String(n).padStart(2, '0')}`))
    const scope = scopeOf(many)
    scope.problems = Array.from({ length: 30 }, (_, n) => `number ${n} ${'and so on '.repeat(20)}`)
    for (const height of [12, 18, 24, 40]) {
      const lines = show(scope).lines(80, height)
      expect(names(lines).length).toBeGreaterThanOrEqual(height < 18 ? 1 : 3)
      expect(lines.join('\n')).toContain('esc close')
      expect(lines.join('\n')).toMatch(/ (?:30 problems|and 2\d more)\n/)
    }
  })

  it('asks before it ends a server, and does not ask before it begins one', async () => {
    const scope = scopeOf([server('a'), server('b', { spec: { enabled: false } })])
    const shown = show(scope)
    shown.type('d')
    expect(shown.lines()).toContain(' Disable a? d again: yes. Any other key: no.')
    shown.press('down')
    shown.press('up')
    shown.type('d', 'q')
    expect(scope.changes).toEqual([])
    shown.type('d', 'd')
    await shown.until(/Saved to/)
    shown.press('down')
    shown.type('d')
    await shown.until(/b: disabled/)
    expect(scope.changes).toEqual([
      ['a', { enabled: false }, 'here'],
      ['b', { enabled: true }, 'here'],
    ])
  })

  it('shows that pushes come, and that one could not be used', () => {
    const scope = scopeOf([server('a'), server('b'), server('c')])
    scope.books.set('a', book({ received: 3, lastEventAt: Date.now() - 5_000 }))
    scope.books.set('b', book({ received: 7, lastEventAt: Date.now() - 600_000, lastError: 'no key' }))
    const [a, b, c] = show(scope).raw().slice(3, 6)
    expect(a).toContain(`\u001B[3${'accent'.length % 8}m  3 ↓   `)
    expect(b).toContain(`\u001B[3${'warning'.length % 8}m  7     `)
    expect(c).not.toContain('↓')
  })
})

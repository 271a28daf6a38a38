import type { ServerSpec, TriggerEvent } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { connectionFacts } from '../../../src/session/servers/connection/facts.ts'
import { createServerPage } from '../../../src/session/servers/server/page.ts'
import {
  book,
  listPrompts,
  PATHS,
  type Scope,
  scopeOf,
  server,
  show,
  type Shown,
  type Told,
  tool,
} from './stage.ts'

function pageOf(letter: string, told: Told, more: Partial<Scope> = {}): Shown & { scope: Scope } {
  const scope = scopeOf([server('hub', told)], more)
  const shown = show(scope, { page: (panel) => createServerPage(panel, 'hub') })
  shown.type(letter)
  return { ...shown, scope }
}

describe('the page of tools', () => {
  const tools = [
    tool('read', { annotations: { readOnlyHint: true, openWorldHint: false } }),
    tool('secret'),
    tool('wrong', { title: 'broken' }),
  ]
  const spec = { exposure: 'direct' as const, toolExposure: { secret: 'hidden' as const } }

  it('shows how each reaches the model, also those that do not', () => {
    const shown = pageOf('t', { tools, spec })
    expect(shown.lines().slice(1, -3)).toEqual([
      ' Tools of hub  3 tools',
      ' direct: declared to the model; 1 of them otherwise, by toolExposure',
      '',
      ' › read    direct    Does read.',
      '   secret  hidden    Does secret.',
      '   wrong   left out  Does wrong.',
      '',
      ' Does read.',
      ' mcp__hub__read · reads only, stays inside',
    ])
    shown.press('end')
    expect(shown.lines().slice(8, 10)).toEqual([' Left out: its input schema cannot be used', ' Does wrong.'])
  })

  it('says when they are known from an earlier session, and when there are none', () => {
    expect(pageOf('t', { tools, listed: false }).lines().join('\n')).toContain(
      'As it had them in an earlier session',
    )
    expect(pageOf('t', { tools: [] }).lines()).toContain(' The server offers no tools.')
    expect(pageOf('t', { listed: false }).lines()).toContain(' The server has not said yet what it offers.')
  })

  it('opens one with what it takes, follows what changes, and scrolls', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where it is.' },
        limit: { type: ['integer', 'null'] },
        any: { enum: [1] },
      },
      required: ['path'],
    }
    const shown = pageOf('t', { tools: [tool('read', { ...tools[0], title: 'Reader', inputSchema })], spec })
    shown.press('enter')
    expect(shown.lines(80, 60).slice(1, 19)).toEqual([
      ' read',
      ' called      mcp__hub__read',
      ' its name    read',
      ' title       Reader',
      ' exposure    direct: declared to the model',
      ' server      hub',
      ' hints       reads only, stays inside (the server’s word)',
      '',
      ' Does read.',
      '',
      ' Parameters',
      '   path   string, required      Where it is.',
      '   limit  integer or null',
      '   any    any',
      '',
      ' Schema',
      '   {',
      '     "type": "object",',
    ])
    expect(shown.lines(80, 24)[2]).toBe(' called      mcp__hub__read')
    shown.press('down')
    expect(shown.lines(80, 24)[2]).toBe(' its name    read')
    shown.press('end')
    expect(shown.lines(80, 24).join('\n')).toMatch(/ {3}\}\n {3}\d+ to (\d+) of \1\n/)
    shown.press('up')
    expect(shown.lines(80, 24).join('\n')).not.toMatch(/to (\d+) of \1\n/)
    shown.scope.servers = [server('hub', { tools: [], spec })]
    expect(shown.lines()).toContain(' The server no longer offers this tool.')
  })

  it('leaves out nothing of what it says of a tool where that is longer than a line', () => {
    const annotations = {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    }
    const shown = pageOf('t', { tools: [tool('read', { annotations })], spec })
    shown.press('enter')
    const lines = shown.lines(80, 60)
    const at = lines.findIndex((line) => line.startsWith(' hints'))
    expect(lines.slice(at, at + 3)).toEqual([
      ' hints       reads only, destroys nothing, may be repeated, stays inside (the',
      '             server’s word)',
      '',
    ])
  })
})

describe('the page of resources', () => {
  const capabilities = { resources: {} }
  const offering = (pages: Readonly<Record<string, readonly unknown[]>>): Told => ({
    status: { capabilities },
    request: async (method, params) => {
      const answers = pages[method] ?? []
      const at = Number((params as { cursor?: string } | undefined)?.cursor ?? 0) || 0
      const answer = answers[Math.min(at, answers.length - 1)]
      if (answer instanceof Error) throw answer
      return answer
    },
  })

  it('lists page after page, templates too, and shows what is selected', async () => {
    const shown = pageOf(
      'u',
      offering({
        'resources/list': [
          {
            resources: [
              { uri: 'file:///a', name: 'a', description: 'The first.', mimeType: 'text/plain', size: 12 },
            ],
            nextCursor: '1',
          },
          { resources: [{ uri: 'file:///b', name: 'b' }, 'nonsense', {}] },
        ],
        'resources/templates/list': [
          { resourceTemplates: [{ uriTemplate: 'db:///{table}', name: 'tables' }] },
        ],
      }),
    )
    expect(shown.lines()).toContain(' Listing…')
    const lines = await shown.until(/5 resources/)
    expect(lines.slice(1, -3)).toEqual([
      ' Resources of hub  5 resources',
      '',
      ' › file:///a      a',
      '   file:///b      b',
      '   (no address)',
      '   (no address)',
      '   db:///{table}  tables',
      '',
      ' file:///a',
      ' The first.',
      ' text/plain · 12 bytes',
    ])
    shown.press('end')
    expect(shown.lines()).toContain(' template')
  })

  it('says when the server has others by now', async () => {
    const resources = [{ uri: 'a' }]
    const shown = pageOf('u', {
      status: { capabilities },
      request: async () => ({ resources, resourceTemplates: [] }),
    })
    await shown.until(/1 resource$/m)
    const method = 'notifications/resources/list_changed'
    const event = { ts: Date.now() + 1, method } as TriggerEvent
    shown.scope.books.set('hub', book({ received: 1, recent: [event] }))
    expect(shown.lines()).toContain(' Resources of hub  1 resource, changed since: r lists again')
    shown.scope.books.set('hub', book({ received: 1, recent: [{ ...event, ts: Date.now() - 1_000 }] }))
    expect(shown.lines()).toContain(' Resources of hub  1 resource')
  })

  it('finds by typing, and keeps what is selected when the list is another one', async () => {
    let resources = Array.from({ length: 30 }, (_, n) => ({ uri: `file:///${n}`, name: `n${n}` }))
    const shown = pageOf('u', {
      status: { capabilities },
      request: async () => ({ resources, resourceTemplates: [] }),
    })
    await shown.until(/30 resources/)
    shown.type('/', '2', '9')
    expect(shown.lines().slice(1, 6)).toEqual([
      ' Resources of hub  30 resources',
      ' / 29',
      '',
      ' › file:///29  n29',
      '',
    ])
    shown.type('x')
    expect(shown.lines()).toContain(' No resource fits that.')
    shown.press('escape')
    expect(shown.lines()).toContain(' › file:///29  n29')
    resources = [{ uri: 'file:///new', name: 'new' }, ...resources]
    shown.type('r')
    await shown.until(/31 resources/)
    expect(shown.lines()).toContain(' › file:///29   n29')
  })

  it('stops at a bound, says why a list could not be had, and lists again', async () => {
    const resources = Array.from({ length: 90 }, (_, n) => ({ uri: `x:${n}` }))
    const endless = pageOf('u', {
      status: { capabilities },
      request: (method, params) => {
        if (method !== 'resources/list') return Promise.resolve({ resourceTemplates: [] })
        const at = Number((params as { cursor?: string } | undefined)?.cursor ?? 0)
        return Promise.resolve({ resources, nextCursor: `${at + 1}` })
      },
    })
    await endless.until(/1000 resources, and there are more/)
    const asked: string[] = []
    const failing = pageOf('u', {
      status: { capabilities },
      request: (method) => {
        asked.push(method)
        return asked.length === 1
          ? Promise.reject(new Error('the disk is full'))
          : Promise.resolve({ resources: [], resourceTemplates: [] })
      },
    })
    await failing.until(/ the disk is full/)
    failing.type('r')
    await failing.until(/The server has none\./)
    const strange = pageOf('u', offering({ 'resources/list': [{ resources: 'none' }] }))
    await strange.until(/The answer to resources\/list is no list\./)
    const repeating = pageOf(
      'u',
      offering({
        'resources/list': [{ resources: [{ uri: 'a' }], nextCursor: 'same' }],
        'resources/templates/list': [{ resourceTemplates: [] }],
      }),
    )
    expect(await repeating.until(/2 resources/)).toContain(' › a')
  })

  it('asks for nothing more when it is left', async () => {
    let signal: AbortSignal | undefined
    const shown = pageOf('u', {
      status: { capabilities },
      request: (_method, _params, asked) => {
        signal = asked
        return new Promise(() => undefined)
      },
    })
    expect(signal?.aborted).toBe(false)
    shown.press('escape')
    expect(signal?.aborted).toBe(true)
  })
})

describe('the page of prompts', () => {
  const told: Told = { status: { capabilities: { prompts: {} } } }

  it('shows the commands that they are with what they take, and follows the list', async () => {
    const prompts = [
      {
        name: 'review it',
        description: 'Reviews a change.',
        arguments: [{ name: 'branch', required: true, description: 'Which.' }, { name: 'tone' }, null],
      },
    ]
    const shown = pageOf('p', told)
    expect(shown.lines()).toContain(' Listing…')
    const { prompts: known } = shown.scope
    await listPrompts(known!, 'hub', () => ({ prompts }))
    expect(shown.lines().slice(1, -3)).toEqual([
      ' Prompts of hub  1 prompt',
      '',
      ' › /mcp:hub:review_it  Reviews a change.',
      '',
      ' /mcp:hub:review_it',
      ' the server’s name for it: review it',
      ' Reviews a change.',
      ' branch (required): Which.',
      ' tone',
    ])
    await listPrompts(known!, 'hub', () => ({ prompts: [{ name: 'all' }, ...prompts] }))
    expect(shown.lines()).toContain(' › /mcp:hub:review_it  Reviews a change.')
    expect(shown.lines()).toContain('   /mcp:hub:all')
    await listPrompts(known!, 'hub', () => ({ prompts: [] }))
    expect(shown.lines()).toContain(' The server has none.')
  })

  it('says why there are none: the list failed, or nobody may ask for it', async () => {
    const shown = pageOf('p', told)
    const failing = listPrompts(shown.scope.prompts!, 'hub', () => {
      throw new Error('the disk is\nfull')
    })
    await expect(failing).rejects.toThrow('the disk is')
    expect(shown.lines().join('\n')).toMatch(/ the disk is full\n/)
    expect(pageOf('p', told, { prompts: undefined }).lines()).toContain(
      ' The plugin "prompts" is not loaded: is it among "disable" in tapline.*?',
    )
  })
})

describe('the page of pushes', () => {
  const event = (more: Partial<TriggerEvent>): TriggerEvent => ({
    ts: new Date(2026, 0, 1, 14, 3, 22).getTime(),
    traceId: 'trace',
    server: 'hub',
    method: 'notifications/build/failed',
    key: 'hub:7',
    policy: 'rules',
    summary: 'notifications/build/failed build 7',
    state: 'delivered',
    ...more,
  })

  it('accounts for every one, and shows the newest first', () => {
    const recent = [event({ sink: 'chat' }), event({ state: 'dropped', reason: 'no rules', summary: '' })]
    const books = new Map([
      [
        'hub',
        book({ received: 5, delivered: 3, dropped: 2, handled: 9, recent, lastEventAt: Date.now() - 90_000 }),
      ],
    ])
    const spec = { push: { default: 'summary', 'a/b': { policy: 'run', limit: '6/hour' } } }
    expect(pageOf('n', { spec }, { books }).lines().slice(1, -3)).toEqual([
      ' Pushes of hub  5 received, last 1 min ago',
      ' 3 delivered · 0 redirected · 0 deduped · 0 collapsed · 2 dropped · 0 pending',
      ' policy: summary, a/b run (6/hour) · 9 of the protocol’s own beside these',
      '',
      ' › 14:03:22  dropped (no rules)          build/failed',
      '   14:03:22  delivered to chat           build/failed build 7',
      '',
      ' notifications/build/failed',
      ' no rules',
      ' notifications/build/failed · policy rules · key hub:7 · trace',
    ])
  })

  it('says when they do not add up, and what went wrong last', () => {
    const books = new Map([['hub', book({ received: 5, delivered: 3, lastError: 'no key' })]])
    const lines = pageOf('n', {}, { books }).lines()
    expect(lines).toContain(' This does not add up: 3 are accounted for.')
    expect(lines).toContain(' last error: no key')
    expect(pageOf('n', {}).lines()[1]).toBe(' Pushes of hub  0 received, since the start')
  })

  it('keeps what is selected while others arrive', () => {
    const [first, second] = [event({ summary: 'first' }), event({ summary: 'second' })]
    const books = new Map([['hub', book({ recent: [first, second] })]])
    const shown = pageOf('n', {}, { books })
    const pointed = (): string | undefined => shown.lines().find((line) => line.startsWith(' ›'))
    expect(pointed()).toContain('second')
    shown.press('down')
    books.set('hub', book({ recent: [first, second, event({ summary: 'third' })] }))
    expect(pointed()).toContain('first')
    shown.press('home')
    books.set('hub', book({ recent: [first, second, event({ summary: 'fourth' })] }))
    expect(pointed()).toContain('fourth')
  })
})

describe('the page of a connection', () => {
  it('has everything but secrets', () => {
    const http: Partial<ServerSpec> = {
      transport: {
        type: 'streamable-http',
        url: 'https://me:hunter22@a.example/mcp?key=abcdefgh#frag',
        headers: { Authorization: 'Bearer verysecret1', 'X-Team': 'verysecret2' },
        auth: { kind: 'bearer', ref: 'PI_MCP_TOKEN_A' },
        sseIdleTimeoutMs: 1,
        bodyCapBytes: 1,
      },
      subscribe: ['file:///log/*'],
    }
    const stdio: Partial<ServerSpec> = {
      transport: {
        type: 'stdio',
        command: '/home/me/bin/hub',
        args: [
          '--token',
          'ghp_abcdefghijkl1234',
          'two words',
          '--password=verysecret3',
          '-k',
          '--api-key',
          'verysecret6',
        ],
        env: { API_KEY: 'verysecret4' },
        cwd: '/home/me/app/sub',
        inheritEnv: false,
      },
    }
    const status: Told['status'] = {
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'hub', version: '1' },
      instructions: 'Be\nkind.',
      subscriptions: { active: ['file:///log/a?token=verysecret5'], refused: [{ uri: 'x:y', reason: 'no' }] },
      report: { pushStream: 'none', skippedLines: 2 },
    }
    const facts = (spec: Partial<ServerSpec>) => connectionFacts(server('hub', { spec, status }), PATHS)
    expect(JSON.stringify([facts(http), facts(stdio)])).not.toMatch(/verysecret|hunter22|abcdefgh/)
    expect(facts(http)).toEqual([
      { label: 'state', values: ['connected'] },
      { label: 'attempts', values: ['1 in a row, at most 20'] },
      { label: 'transport', values: ['http: https://a.example/mcp?…'] },
      { label: 'headers', values: ['Authorization, X-Team'] },
      { label: 'credential', values: ['PI_MCP_TOKEN_A'] },
      { label: 'entry', values: ['user: ~/.pi/agent/mcp.json:3'] },
      { label: 'timeout', values: ['60 s a request'] },
      { label: 'protocol', values: ['2025-11-25, the legacy era'] },
      { label: 'server', values: ['hub 1'] },
      { label: 'capabilities', values: ['tools, logging'] },
      { label: 'instructions', values: ['Be', 'kind.'] },
      { label: 'push stream', values: ['none: tools work, notifications do not arrive'], isWrong: true },
      { label: 'subscribed', values: ['file:///log/a?…'] },
      { label: 'refused', values: ['x:y: no'], isWrong: true },
      { label: 'skipped', values: ['2 lines that were no messages'], isWrong: true },
    ])
    expect(facts(stdio).slice(2, 5)).toEqual([
      {
        label: 'transport',
        values: [
          expect.stringMatching(
            /^stdio: ~\/bin\/hub --token \[REDACTED.*"two words".* -k --api-key \[REDACTED\]$/,
          ),
        ],
      },
      { label: 'directory', values: ['sub'] },
      { label: 'environment', values: ['API_KEY'] },
    ])
  })

  it('says since when, and which process', () => {
    const status = { since: Date.now() - 125_000, pid: 4711 }
    expect(connectionFacts(server('hub', { status }), PATHS).slice(0, 2)).toEqual([
      { label: 'state', values: [expect.stringMatching(/^connected, since \d\d:\d\d:\d\d \(2 min\)$/)] },
      { label: 'process', values: ['pid 4711'] },
    ])
  })

  it('follows the server', () => {
    const shown = pageOf('c', {})
    expect(shown.lines()).toContain(' state         connected')
    shown.scope.servers = [server('hub', { status: { state: 'reconnecting', attempt: 3, reason: 'gone' } })]
    expect(shown.lines()).toContain(' state         reconnecting')
    expect(shown.lines()).toContain(' attempts      3 in a row, at most 20')
    expect(shown.lines()).toContain(' reason        gone')
    shown.scope.servers = []
    expect(shown.lines()).toContain(' This server is no longer configured.')
  })
})

describe('the page of stderr', () => {
  it('shows the end of it and keeps it in sight, until somebody scrolls', () => {
    let text = Array.from({ length: 50 }, (_, n) => `line ${n}.`).join('\n')
    const told: Told = {
      get status() {
        return { report: { stderrTail: text } }
      },
    }
    const shown = pageOf('e', told)
    expect(shown.lines(80, 24)[1]).toBe(' Stderr of hub  followed')
    expect(shown.lines(80, 24)).toContain(' line 49.')
    text += '\nline 50.'
    expect(shown.lines(80, 24)).toContain(' line 50.')
    shown.press('pageUp')
    expect(shown.lines(80, 24)[1]).toBe(' Stderr of hub')
    const before = shown.lines(80, 24)[2]
    text += '\nline 51.'
    expect(shown.lines(80, 24)[2]).toBe(before)
    shown.press('end')
    text += '\nline 52.'
    expect(shown.lines(80, 24)).toContain(' line 52.')
    text = ''
    expect(shown.lines(80, 24)).toContain(' It has written nothing.')
  })
})

it('no page shows what looks like a secret, whoever said it', async () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz012345'
  const words = `use ${secret.slice(0, 6)}\u001B[0m${secret.slice(6)} here`
  const shown = pageOf('t', {
    tools: [
      tool('read', {
        title: words,
        description: words,
        inputSchema: {
          type: 'object',
          properties: { key: { type: 'string', description: `as ${secret}`, default: secret } },
        },
      }),
    ],
    status: {
      capabilities: { resources: {}, prompts: {} },
      instructions: words,
      serverInfo: { name: words, version: '1' },
    },
    request: async () => ({
      resources: [{ uri: `https://me:${secret}@host/?token=${secret}`, name: words, description: words }],
      resourceTemplates: [],
    }),
  })
  const argument = { name: 'a', description: words }
  await listPrompts(shown.scope.prompts!, 'hub', () => ({
    prompts: [{ name: 'p', title: words, description: words, arguments: [argument] }],
  }))
  const seen = [shown.lines()]
  shown.press('enter')
  seen.push(shown.lines(80, 80))
  shown.press('escape', 'escape')
  for (const letter of ['u', 'p', 'c']) {
    seen.push(shown.lines())
    shown.type(letter)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(shown.lines(80, 60))
    shown.press('escape')
  }
  const text = seen.flat().join('\n')
  expect(text).not.toContain('ghp_')
  expect(text.match(/\[REDACTED/g)?.length).toBeGreaterThan(10)
})

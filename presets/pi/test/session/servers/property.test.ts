import type { ServerSpec, SessionStatus, TriggerEvent } from '@tapline/core'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { foreign, plain, STEERING, visibleWidth } from '../screen/pi-terminal.ts'
import { book, listPrompts, scopeOf, server, show, tool } from './stage.ts'

const STATES = ['pending', 'connecting', 'connected', 'reconnecting', 'disconnected', 'auth_failed'] as const

const anyServer = fc
  .record({
    name: fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
    state: fc.constantFrom(...STATES),
    enabled: fc.boolean(),
    exposure: fc.constantFrom('codemode', 'deferred', 'direct', 'hidden'),
    texts: fc.array(foreign, { minLength: 12, maxLength: 12 }),
    number: fc.nat(),
  })
  .map(({ name, state, enabled, exposure, texts, number }) => {
    const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = '', i = '', j = '', k = '', l = ''] =
      texts
    const status: Partial<SessionStatus> = {
      state,
      reason: `${a}\n${b}`,
      attention: c,
      attempt: number,
      protocolVersion: d,
      serverInfo: { name: e, version: f },
      capabilities: { resources: {}, prompts: {}, [g]: {} },
      instructions: h,
      report: { stderrTail: `${i}\n${j}`, lastStderr: j, pushStream: 'none', skippedLines: number },
      subscriptions: { active: [k], refused: [{ uri: l, reason: a }] },
    }
    const spec: Partial<ServerSpec> = {
      enabled,
      exposure,
      source: { label: b, scope: 'user', path: `/home/me/${c}`, line: number, override: d },
      transport: { type: 'stdio', command: e, args: [f, g], env: { [h]: 'x' }, cwd: i, inheritEnv: true },
      push: { [j]: 'log' },
    }
    const schema = { type: 'object', properties: { [k]: { type: l, description: a } } }
    const tools = [
      tool(b || 'x', { description: c, inputSchema: schema, annotations: { readOnlyHint: true } }),
      tool(d || 'y', { title: 'broken' }),
    ]
    const item = { uri: e, name: f, description: g, mimeType: h }
    const offered = { name: f || 'x', description: g, arguments: [{ name: i || 'y', description: j }] }
    const event: TriggerEvent = {
      ts: number,
      traceId: a,
      server: name,
      method: b,
      key: c,
      policy: d,
      summary: e,
      state: 'redirected',
      sink: f,
      reason: g,
    }
    return {
      event,
      offered,
      made: server(name, {
        spec,
        status,
        tools,
        listError: k,
        request: () => Promise.resolve({ resources: [item], resourceTemplates: [item] }),
      }),
    }
  })

it('no line is wider than the terminal, or steers it, on any page, whatever servers say', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(anyServer, { minLength: 1, maxLength: 4, selector: ({ made }) => made.spec.name }),
      fc.array(foreign, { maxLength: 3 }),
      fc.integer({ min: 10, max: 200 }),
      fc.integer({ min: 5, max: 60 }),
      async (servers, problems, width, height) => {
        const scope = scopeOf(
          servers.map(({ made }) => made),
          { problems },
        )
        for (const { made, offered } of servers)
          await listPrompts(scope.prompts!, made.spec.name, () => ({ prompts: [offered] }))
        for (const { made, event } of servers)
          scope.books.set(
            made.spec.name,
            book({ received: 3, recent: [event], lastError: event.reason ?? '' }),
          )
        const shown = show(scope)
        const look = (): void => {
          for (const line of shown.raw(width, height)) {
            expect(visibleWidth(line)).toBeLessThanOrEqual(width)
            expect(plain(line)).not.toMatch(STEERING)
            // Whatever the theme is, it has coloured all of it.
            // oxlint-disable-next-line no-control-regex -- colours are what this removes.
            expect(line.replaceAll(/\u001B\[3\dm[^\u001B]*\u001B\[39m|\u001B\[\d+m/g, '')).toBe('')
          }
        }
        look()
        if (problems.length > 0) {
          shown.type('p')
          look()
          shown.press('escape')
        }
        shown.press('enter')
        look()
        for (const letter of ['t', 'u', 'p', 'n', 'c', 'e', 'x']) {
          shown.type(letter)
          look()
          // What was asked for has come.
          await new Promise((resolve) => setImmediate(resolve))
          look()
          if (letter === 't') {
            shown.press('enter', 'end')
            look()
            shown.press('escape')
          }
          // A server that is not connected offers nothing to open.
          if (!/^ (?:Resources|Prompts)/.test(shown.lines()[1] ?? '') && (letter === 'u' || letter === 'p'))
            continue
          shown.press('escape')
        }
      },
    ),
    { numRuns: 150 },
  )
}, 120_000)

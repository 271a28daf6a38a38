import { testKernel } from '@tapline/core/testing'
import { expect, test, vi } from 'vitest'
import { callResourceTool, type Resources, resources, widestExposure } from '../src/index.ts'
import { failure, scripted } from './support.ts'

const a = { uri: 'file:///a', name: 'a' }

test('the plugin offers the tools, and being disabled offers none', async () => {
  let offered: Resources | undefined
  const { dispose } = await testKernel(resources({ onReady: (ready) => (offered = ready) }))
  expect(offered?.tools.map(({ name }) => name)).toEqual([
    'list_mcp_resources',
    'list_mcp_resource_templates',
    'read_mcp_resource',
  ])
  expect(offered?.tools.every(({ annotations }) => annotations.readOnlyHint === true)).toBe(true)
  await dispose()
})

test.each([
  [['deferred', 'codemode', 'direct'], 'direct'],
  [['deferred', 'codemode'], 'codemode'],
  [['hidden', 'deferred'], 'deferred'],
  [['hidden'], undefined],
  [[], undefined],
] as const)('the widest exposure of %j is %s', (exposures, widest) => {
  expect(widestExposure(exposures)).toBe(widest)
})

test('a transient HTTP error is tried once more, after a moment, for lists and reads alike', async () => {
  vi.useFakeTimers()
  try {
    for (const status of [408, 429, 500, 502, 503, 599]) {
      let count = 0
      const flaky = scripted('x', (method) => {
        count += 1
        if (count === 1) throw failure(`The server answered HTTP ${status}`, { status })
        return method === 'resources/read' ? { contents: [] } : { resources: [a], resourceTemplates: [] }
      })
      for (const [tool, params] of [
        ['list_mcp_resources', {}],
        ['list_mcp_resources', { server: 'x' }],
        ['list_mcp_resource_templates', { server: 'x' }],
        ['read_mcp_resource', { server: 'x', uri: 'file:///a' }],
      ] as const) {
        count = 0
        const call = callResourceTool(tool, params, { servers: [flaky] })
        await vi.advanceTimersByTimeAsync(249)
        expect(count).toBe(1)
        await vi.advanceTimersByTimeAsync(1)
        expect((await call).structuredContent).not.toHaveProperty('errors')
        expect(count).toBe(2)
      }
    }
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  ['a second transient error', failure('HTTP 503', { status: 503 }), 2],
  ['HTTP 501', failure('HTTP 501', { status: 501 }), 1],
  ['HTTP 404', failure('HTTP 404', { status: 404 }), 1],
  ['an error of the server', failure('The server answered with error -32002: gone', { code: -32_002 }), 1],
  ['a lost connection', new Error('The connection was closed.'), 1],
])('%s is not tried again', async (_what, error, times) => {
  const server = scripted('x', () => {
    throw error
  })
  const call = callResourceTool('read_mcp_resource', { server: 'x', uri: 'u' }, { servers: [server] })
  await expect(call).rejects.toBe(error)
  expect(server.asked).toHaveLength(times)
})

test('whoever gives up while a moment passes gets the error, and nothing is asked again', async () => {
  const controller = new AbortController()
  const error = failure('HTTP 503', { status: 503 })
  const server = scripted('x', () => {
    throw error
  })
  const { signal } = controller
  const call = callResourceTool('read_mcp_resource', { server: 'x', uri: 'u' }, { servers: [server], signal })
  queueMicrotask(() => controller.abort())
  await expect(call).rejects.toBe(error)
  expect(server.asked).toHaveLength(1)
})

test('a list without an end ends with an error, whatever the server does with its cursors', async () => {
  let page = 0
  const servers = [
    scripted('counting', () => ({ resources: [], nextCursor: String((page += 1)) })),
    scripted('repeating', () => ({ resources: [a], nextCursor: 'again' })),
    scripted('heavy', () => ({
      resources: Array.from({ length: 30_000 }, () => a),
      nextCursor: `${Math.random()}`,
    })),
    scripted('good', () => ({ resources: [a], nextCursor: null })),
  ]
  const { structuredContent } = await callResourceTool('list_mcp_resources', {}, { servers })
  expect(structuredContent).toEqual({
    resources: [{ server: 'good', ...a }],
    errors: [
      { server: 'counting', error: 'MCP resources/list exceeded 1000 pages' },
      { server: 'heavy', error: 'MCP resources/list exceeded 50000 entries' },
      { server: 'repeating', error: 'MCP resources/list returned duplicate cursor: again' },
    ],
  })
})

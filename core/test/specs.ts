import type { ConnectRequest, RawNotification, ServerSpec, ToolSpec, Trigger } from '../src/index.ts'
import { TaplineError } from '../src/index.ts'

/** A server entry with the defaults of mcp.json, over a transport that only a test provides. */
export function serverSpec(overrides: Partial<ServerSpec> = {}): ServerSpec {
  return {
    name: 'builds',
    dialect: 'mcp.json',
    source: { label: 'a test', scope: 'user' },
    enabled: true,
    transport: { type: 'custom', name: 'memory', config: {} },
    requestTimeoutMs: 60_000,
    reconnect: { initialMs: 1, maxMs: 5, maxAttempts: 20 },
    naming: 'mcp',
    exposure: 'codemode',
    toolExposure: {},
    results: { maxBytes: 20_000, overflow: 'temporary-file' },
    push: {},
    ...overrides,
  }
}

/** What the `connect` hook is asked for `server`. */
export function connectRequest(server: ServerSpec = serverSpec()): ConnectRequest {
  return {
    server,
    transport: server.transport,
    env: {},
    headers: {},
    cwd: '/nowhere',
    attempt: 1,
    signal: new AbortController().signal,
    streamableHttp: () => Promise.reject(new Error('not in this test')),
    error: (code, message, details) => new TaplineError(code, message, details),
  }
}

/** A custom notification. */
export function rawNotification(overrides: Partial<RawNotification> = {}): RawNotification {
  return {
    kind: 'raw',
    server: 'builds',
    method: 'notifications/build',
    params: {},
    receivedAt: 0,
    ...overrides,
  }
}

/** An event on its way to a sink. */
export function trigger(overrides: Partial<Trigger> = {}): Trigger {
  return {
    kind: 'trigger',
    traceId: '00000000-0000-4000-8000-000000000000',
    source: 'mcp',
    server: 'builds',
    method: 'notifications/build',
    key: 'mcp:builds:custom:notifications%2Fbuild:7',
    replacement: 'drop',
    summary: 'notifications/build build 7 failed',
    receivedAt: 0,
    ...overrides,
  }
}

/** A tool on its way to the model. */
export function toolSpec(overrides: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name: 'mcp__builds__rerun',
    server: serverSpec(),
    serverTool: { name: 'rerun', inputSchema: { type: 'object' } },
    label: 'rerun',
    description: 'Runs a build again.',
    parameters: { type: 'object' },
    exposure: 'codemode',
    ...overrides,
  }
}

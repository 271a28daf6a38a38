import type {
  AuditRow,
  DedupRequest,
  DedupVerdict,
  DeliverContext,
  Host,
  Notice,
  Receipt,
  ServerSpec,
  ServerView,
  Trigger,
  WindowRecord,
  Windows,
} from '@tapline/core'
import { testKernel, type TestKernel } from '@tapline/core/testing'
import { type Approval, type Channels, channels } from '../src/index.ts'

export const EVENT = 'notifications/claude/channel'
export const VERDICT = 'notifications/claude/channel/permission'

/** A server's capabilities that make it a channel, or one that may be asked about tool calls. */
export const CHANNEL = { experimental: { 'claude/channel': {} } }
export const ASKED = { experimental: { 'claude/channel': {}, 'claude/channel/permission': {} } }

/** A server as the plugin sees it; what it is told is kept. */
export interface FakeServer extends ServerView {
  readonly told: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[]
}

/** A server with this name. */
export function server(
  name: string,
  view: Partial<Pick<ServerView, 'capabilities' | 'connected'>> = {},
  spec: Partial<ServerSpec> = {},
): FakeServer {
  const told: FakeServer['told'] = []
  return {
    spec: {
      name,
      dialect: 'mcp.json',
      source: { label: 'mcp.json', scope: 'user' },
      enabled: true,
      transport: { type: 'stdio', command: 'server', args: [], env: {}, inheritEnv: true },
      requestTimeoutMs: 60_000,
      reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
      naming: 'mcp',
      exposure: 'direct',
      toolExposure: {},
      results: { maxBytes: 20_480, overflow: 'temporary-file' },
      push: {},
      channel: true,
      ...spec,
    },
    connected: true,
    capabilities: ASKED,
    instructions: undefined,
    ...view,
    told,
    notify: async (method, params) => void told.push({ method, params }),
  }
}

/** A kernel with the plugin and these servers. */
export interface Place extends AsyncDisposable, TestKernel {
  readonly channels: Channels
  readonly audit: AuditRow[]
  notify(server: string, method: string, params?: Readonly<Record<string, unknown>>): Notice
  /** The trigger of an event; throws where it is none. */
  event(server: string, params?: Readonly<Record<string, unknown>>): Trigger
  deliver(trigger: Trigger, signal?: AbortSignal): Promise<Receipt | undefined>
}

/** What {@link openPlace} takes. */
export interface PlaceOptions {
  readonly servers?: readonly FakeServer[]
  readonly approval?: Partial<Approval> | undefined
  readonly host?: Partial<Host>
  readonly options?: Readonly<Record<string, unknown>>
  readonly redact?: false
}

const HIDDEN = /s3cr3t/g

/** Opens a place; everybody may do everything unless `approval` says otherwise. */
export async function openPlace({
  servers = [server('chat')],
  approval = {},
  host = {},
  options = {},
  redact,
}: PlaceOptions = {}): Promise<Place> {
  const audit: AuditRow[] = []
  let face: Channels | undefined
  const plugin = channels({
    onReady: (ready) => (face = ready),
    ...(redact === false ? {} : { redact: (text: string) => text.replace(HIDDEN, '[REDACTED]') }),
  })
  const test = await testKernel(plugin, {
    host: {
      server: (name) => servers.find(({ spec }) => spec.name === name),
      audit: (row) => void audit.push(row),
      ...host,
    },
    options: { channels: options },
  })
  const state = { servers: servers.map(({ spec }) => spec), diagnostics: [], questions: [] }
  await test.kernel.hooks.config.promise(state, {} as never)
  face!.approveBy(() => ({ events: true, permission: true, ...approval }))
  const notify: Place['notify'] = (name, method, params) =>
    test.kernel.hooks.notify.call({ kind: 'raw', server: name, method, params, receivedAt: Date.now() })!
  return {
    ...test,
    channels: face!,
    audit,
    notify,
    event: (name, params = { content: 'Hello' }) => {
      const notice = notify(name, EVENT, params)
      if (notice.kind !== 'trigger') throw new Error(`no trigger: ${JSON.stringify(notice)}`)
      return notice
    },
    deliver: (trigger, signal = new AbortController().signal) =>
      test.kernel.hooks.deliver
        .for('channel')
        .promise(trigger, { policy: 'channel', signal } satisfies DeliverContext),
    [Symbol.asyncDispose]: () => test.dispose(),
  }
}

/** Windows of one project; the first one owns it. */
export function windowsOf(self: number, pids: readonly number[]): Windows {
  const records: WindowRecord[] = pids.map((pid) => ({
    pid,
    instance: `i${pid}`,
    cwd: '/nowhere',
    kind: 'interactive',
    heartbeatAt: new Date().toISOString(),
  }))
  const own = records.find(({ pid }) => pid === self)!
  return {
    self: own,
    list: () => records,
    leader: () => records[0]!,
    ownerOf: () => records[0]!,
    isSelf: ({ pid }) => pid === self,
  }
}

/** A window that answers these verdicts, one after the other, the last one for ever; what it was asked is kept. */
export function claimsOf(...verdicts: readonly DedupVerdict[]) {
  const asked: { readonly request: DedupRequest; readonly at: number }[] = []
  const settled: string[] = []
  return {
    asked,
    settled,
    claim: async (request: DedupRequest): Promise<DedupVerdict> => {
      const verdict = verdicts[Math.min(asked.length, verdicts.length - 1)]!
      asked.push({ request, at: performance.now() })
      return verdict.verdict === 'first'
        ? { ...verdict, done: () => void settled.push('done'), failed: () => void settled.push('failed') }
        : verdict
    },
  }
}

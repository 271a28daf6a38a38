import {
  createKernel,
  createPipeline,
  createSession,
  type Frame,
  type Kernel,
  loadSdk,
  type Plugin,
  type PushRule,
  type ServerSpec,
  type Session,
} from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { dedupWindow } from '@tapline/dedup-window'
import { stdio } from '@tapline/stdio'
import { triggers } from '@tapline/triggers'
import { METHOD, orderedCounter, SERVER, type Subject } from './subject.ts'

const [command, ...args] = SERVER

const spec: ServerSpec = {
  name: 'bench',
  dialect: 'mcp.toml',
  source: { label: 'bench', scope: 'user' },
  enabled: true,
  transport: { type: 'stdio', command, args, env: {}, inheritEnv: true },
  requestTimeoutMs: 60_000,
  reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
  naming: 'original',
  exposure: 'direct',
  toolExposure: {},
  results: { maxBytes: 65_536, overflow: 'temporary-file' },
  push: { default: 'count' },
}

const UNLIMITED: PushRule = { policy: 'summary', limit: 'none' }

/** Tapline from the frame to the tap: what a push costs before anything is done with it. */
export async function taplineTap(): Promise<Subject> {
  const counter = orderedCounter()
  const kernel = await createKernel({
    plugins: [stdio()],
    host: testHost({ env: process.env }),
    report: console.error,
  })
  return subject(kernel, counter.count, ({ method, params }) => {
    if (method === METHOD) counter.take(params?.n)
  })
}

/** Tapline's whole pipeline: mapping, policy, the window, accounting and a sink that counts. */
export async function taplinePipeline(): Promise<Subject> {
  const counter = orderedCounter()
  const sink: Plugin = {
    name: 'count',
    api: 1,
    setup({ hooks }) {
      hooks.deliver.sink('summary').tap({}, (trigger) => {
        counter.take(Number(trigger.summary.slice(trigger.summary.lastIndexOf(' ') + 1)))
        return { sink: 'summary' }
      })
    },
  }
  const kernel = await createKernel({
    plugins: [stdio(), triggers(), dedupWindow(), sink],
    host: testHost({ env: process.env }),
    report: console.error,
  })
  const pipeline = createPipeline({ kernel, policyFor: () => UNLIMITED })
  return subject(kernel, counter.count, (frame) => pipeline.receive('bench', frame))
}

async function subject(
  kernel: Kernel,
  received: () => number,
  onNotification: (frame: Frame) => void,
): Promise<Subject> {
  const session: Session = createSession({
    server: spec,
    cwd: process.cwd(),
    info: { name: 'bench', version: '1' },
    sdk: loadSdk,
    transportFor: (request) => kernel.hooks.connect.promise(request),
    onNotification,
    onCatalogueStale: () => undefined,
    onStatus: () => undefined,
    onError: (error) => console.error(String(error)),
  })
  await session.ready()
  return {
    call: (name, params) => session.callTool(name, params),
    received,
    close: async () => {
      await session.close()
      await kernel.dispose()
    },
  }
}

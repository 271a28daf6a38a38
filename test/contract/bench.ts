import {
  createSession,
  type Elicit,
  type Era,
  type Frame,
  type Sdk,
  type ServerSpec,
  type Session,
  type SessionState,
  type SessionStatus,
  type TaplineError,
  type Transport,
} from '@tapline/core'
import { createMemoryPair, type MemoryTransport } from '@tapline/core/testing'
import { expect, vi } from 'vitest'
import { serverSpec } from '../../core/test/specs.ts'
import { ScriptedServer, type Script } from './scripted-server.ts'

/** What a test sets up; everything may be absent. */
export interface BenchOptions {
  readonly spec?: Partial<ServerSpec>
  /** The script of each connection in turn; the last one stays. A function makes its transport fail. */
  readonly scripts?: readonly (Script | (() => never))[]
  /** Changes the client's end of a connection. `connection` counts from 1. */
  readonly transport?: (client: MemoryTransport, connection: number) => Transport
  /** The server's end is in other hands. */
  readonly serve?: (pipe: MemoryTransport) => void
  readonly knownEra?: Era
  readonly refundAfterMs?: number
  readonly elicit?: Elicit
  readonly onStatus?: (status: SessionStatus, bench: Bench) => void
}

/** A session of one server, and everything that was said. */
export interface Bench {
  readonly session: Session
  readonly servers: readonly ScriptedServer[]
  readonly notifications: readonly Frame[]
  /** What entered the SDK. */
  readonly entered: readonly Frame[]
  readonly statuses: readonly SessionStatus[]
  readonly states: readonly SessionState[]
  readonly errors: readonly TaplineError[]
  /** Of each of these, whether nothing was tried again by itself. */
  readonly over: readonly boolean[]
  readonly eras: ReadonlyMap<string, Era | undefined>
  /** How often the catalogue went stale. */
  readonly stale: number
  /** How often the `connect` hook was run. */
  readonly opened: number
  /** The server of the n-th connection, as soon as it is there. */
  server(connection?: number): Promise<ScriptedServer>
  /** Resolves when `holds`. */
  until(holds: () => boolean): Promise<void>
}

const benches = new Set<Bench>()

/** Ends every session of a test. None may have thrown at its transport. */
export async function clearBenches(): Promise<void> {
  const all = [...benches]
  benches.clear()
  await Promise.all(all.map(({ session }) => session.close()))
  expect(all.flatMap(({ servers }) => servers.flatMap(({ thrown }) => thrown))).toEqual([])
}

/** A session over `sdk` whose servers are scripts in memory. */
export function bench(sdk: Sdk, options: BenchOptions = {}): Bench {
  const { scripts = [{}], spec = {} } = options
  const servers: ScriptedServer[] = []
  const notifications: Frame[] = []
  const entered: Frame[] = []
  const statuses: SessionStatus[] = []
  const errors: TaplineError[] = []
  const over: boolean[] = []
  const eras = new Map<string, Era | undefined>()
  const server = serverSpec({ requestTimeoutMs: 5_000, ...spec })
  if (options.knownEra) eras.set(server.name, options.knownEra)
  let stale = 0
  let opened = 0

  const open = (): Transport => {
    const script = scripts[Math.min(opened, scripts.length - 1)]
    opened++
    if (typeof script === 'function') return script()
    const { client, server: pipe } = createMemoryPair()
    if (options.serve) options.serve(pipe)
    else servers.push(new ScriptedServer(pipe, script))
    return options.transport?.(client, opened) ?? client
  }

  const session = createSession({
    server,
    cwd: '/nowhere',
    info: { name: 'tapline', version: '0.0.0' },
    sdk: async () => overheard(sdk, entered),
    transportFor: async () => open(),
    eras: { get: (name) => eras.get(name), set: (name, era) => void eras.set(name, era) },
    ...(options.elicit ? { elicit: options.elicit } : {}),
    ...(options.refundAfterMs === undefined ? {} : { refundAfterMs: options.refundAfterMs }),
    onNotification: (frame) => notifications.push(frame),
    onCatalogueStale: () => stale++,
    onStatus: (status) => {
      statuses.push(status)
      options.onStatus?.(status, made)
    },
    onError: (error, isOver) => {
      errors.push(error)
      over.push(isOver)
    },
  })
  const until = (holds: () => boolean): Promise<void> =>
    vi.waitFor(
      () => {
        if (!holds())
          throw new Error(`still waiting; states: ${statuses.map(({ state }) => state).join(' ')}`)
      },
      { timeout: 10_000, interval: 2 },
    )
  const made: Bench = {
    session,
    servers,
    notifications,
    entered,
    statuses,
    get states() {
      return statuses.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1])
    },
    errors,
    over,
    eras,
    get stale() {
      return stale
    },
    get opened() {
      return opened
    },
    server: async (connection = 1) => {
      await until(() => servers.length >= connection)
      return servers[connection - 1] as ScriptedServer
    },
    until,
  }
  benches.add(made)
  return made
}

/** The same SDK, with a record of the frames that it is handed. */
function overheard(sdk: Sdk, entered: Frame[]): Sdk {
  return {
    ...sdk,
    createClient: (options) => {
      const client = sdk.createClient(options)
      return Object.assign(Object.create(client) as typeof client, {
        connect: (transport: Transport, how: Parameters<typeof client.connect>[1]) => {
          let handler: Transport['onmessage']
          Object.defineProperty(transport, 'onmessage', {
            get: () =>
              handler &&
              ((frame: Frame, extra?: unknown) => {
                entered.push(frame)
                handler?.(frame, extra)
              }),
            set: (next: Transport['onmessage']) => {
              handler = next
            },
          })
          return client.connect(transport, how)
        },
      })
    },
  }
}

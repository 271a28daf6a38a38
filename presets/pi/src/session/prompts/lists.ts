import { type ErrorCode, isTaplineError, messageOf } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import type { PromptBook, Prompts, PromptServer } from '@tapline/prompts'
import type { Notices } from '../notices.ts'

/** The lists of prompts of one Tapline's servers, which are read again whenever they may have changed. */
export interface PromptLists {
  readonly book: PromptBook
  /** The server as its book knows it. */
  sourceOf(server: Server): PromptServer
  /** Something about a server may have changed. */
  changed(server: Server): void
  /** Resolves when what a connected server offers is known; rejects with why it is not. */
  known(server: Server): Promise<void>
  close(): void
}

/** What {@link followLists} takes. */
export interface PromptListsOptions {
  readonly tapline: Tapline
  readonly prompts: Prompts
  readonly notices: Notices
  /** A server offers something else than before. */
  onChange(server: string): void
}

/** Why there are no prompts where the plugin is not there. */
export const NOT_LOADED = 'The plugin "prompts" is not loaded: is it among "disable" in tapline.*?'

/** What ends with its connection is refused before its status says so: it is judged after this long, in milliseconds. */
const NOTICED_MS = 1_000
const OF_CONNECTION: ReadonlySet<string> = new Set<ErrorCode>([
  'CANCELLED',
  'CONNECTION_CLOSED',
  'NOT_CONNECTED',
  'SESSION_LOST',
])

/** What is known of one server's list. */
interface Standing {
  readonly source: PromptServer
  connected: boolean
  /** Streams of this connection by which the server tells of changes: each one after the first may follow a gap. */
  streams: number
  isOpen: boolean
  listing: Promise<void>
}

/** Lists what servers offer as soon as they are connected, and follows it. */
export function followLists({ tapline, prompts, notices, onChange }: PromptListsOptions): PromptLists {
  const { book } = prompts
  const standings = new WeakMap<Server, Standing>()
  let closed = false

  const warn = ({ spec }: Server, problem: string): void =>
    notices.say({ severity: 'warning', message: `server "${spec.name}": ${problem}`, server: spec.name })
  const isCurrent = (server: Server): boolean =>
    !closed && server.spec.enabled && tapline.servers.includes(server)
  const standingOf = (server: Server): Standing => {
    const known = standings.get(server)
    if (known) return known
    const standing = {
      source: sourceOf(server),
      connected: false,
      streams: 0,
      isOpen: false,
      listing: Promise.resolve(),
    }
    standings.set(server, standing)
    return standing
  }
  /** Says why a list failed, unless that is because the connection has ended: then its status says so. */
  const failed = (server: Server): void => {
    const { name } = server.spec
    const failure = book.failureOf(name)
    // It was not even begun: nobody wants it any more.
    if (failure === undefined) return
    const { since } = server.session.status
    const judge = (): void => {
      const { state, since: now } = server.session.status
      if (!isCurrent(server) || state !== 'connected' || now !== since || book.failureOf(name) !== failure)
        return
      warn(server, `its prompts could not be listed: ${messageOf(failure)}`)
    }
    if (isTaplineError(failure) && OF_CONNECTION.has(failure.code)) setTimeout(judge, NOTICED_MS).unref()
    else judge()
  }
  const list = (server: Server): void => {
    const standing = standingOf(server)
    if (standing.source.capabilities?.['prompts'] === undefined) {
      book.forget(server.spec.name)
      return
    }
    standing.listing = book.refresh(standing.source).then(
      ({ problems }) => {
        for (const problem of problems) if (isCurrent(server)) warn(server, problem)
      },
      () => failed(server),
    )
  }
  const opened = (server: Server, standing: Standing): void => {
    standing.streams += 1
    if (standing.streams > 1) list(server)
  }
  const changed = (server: Server): void => {
    const names = new Set(tapline.servers.flatMap(({ spec }) => (spec.enabled ? [spec.name] : [])))
    for (const name of book.servers) if (!names.has(name)) book.forget(name)
    if (!isCurrent(server)) return
    const standing = standingOf(server)
    const { state, report } = server.session.status
    if (state !== 'connected') {
      Object.assign(standing, { connected: false, streams: 0, isOpen: false })
      return
    }
    if (!standing.connected) {
      standing.connected = true
      list(server)
    }
    const isOpen = report.pushStream === 'open'
    if (isOpen && !standing.isOpen) opened(server, standing)
    standing.isOpen = isOpen
  }
  const stop = prompts.follow({
    onChange,
    onStale: (name, why) => {
      const server = tapline.server(name)
      if (!server || !isCurrent(server)) return
      if (why === 'changed') list(server)
      else opened(server, standingOf(server))
    },
  })

  return {
    book,
    sourceOf: (server) => standingOf(server).source,
    changed,
    known: async (server) => {
      const { name } = server.spec
      const standing = standingOf(server)
      await standing.listing
      if (book.failureOf(name) !== undefined) {
        list(server)
        await standing.listing
      }
      const failure = book.failureOf(name)
      if (failure !== undefined) throw failure
    },
    close: () => {
      closed = true
      stop()
    },
  }
}

function sourceOf(server: Server): PromptServer {
  const { session } = server
  return {
    get name() {
      return server.spec.name
    },
    get capabilities() {
      return session.status.capabilities
    },
    request: (method, params, signal) => session.request(method, params, signal ? { signal } : {}),
  }
}

/** What a person is told of anything thrown: what happened, and what to do. */
export function wordsOf(thrown: unknown): string {
  return isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
}

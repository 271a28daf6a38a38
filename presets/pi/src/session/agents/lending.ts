import { type HostPaths, messageOf, type Projects, type ServerSpec, type ToolSpec } from '@tapline/core'
import type { Server } from '@tapline/headless'
import type { Notices } from '../notices.ts'
import { LentProject, type LentProjectOptions } from './lent-project.ts'

/** Projects whose servers may run at one time. */
const MOST_PROJECTS = 8

/** The servers of another project, for one run. */
export interface Loan {
  /** The servers of that project, connected or not, as they are now. */
  readonly servers: readonly Server[]
  server(name: string): Server | undefined
  /** A server that the session runs, as it is wanted in that project; undefined where neither project says anything. */
  override(name: string): ServerSpec | undefined
  /** The tools of those that are connected, named apart from names that are `taken`. */
  tools(taken: (name: string) => boolean): readonly ToolSpec[]
  giveBack(): void
}

/** Lends servers of other projects to runs that work there. */
export interface Lending {
  /**
   * The servers that the project at `cwd` has of its own, connected, at most ten seconds later, and what it says of the
   * session's. Undefined where it is this session's project, and where there is nothing of that. Never rejects.
   */
  borrow(cwd: string, signal: AbortSignal): Promise<Loan | undefined>
  /** Ends all of them within a bounded time. */
  close(): Promise<void>
}

/** What {@link createLending} takes. */
export interface LendingOptions extends LentProjectOptions {
  readonly paths: HostPaths
  readonly projects: Projects
  readonly notices: Notices
  /** Nothing is lent. */
  readonly refused: boolean
}

/** The pool of one session. */
export function createLending({ projects, notices, refused, ...options }: LendingOptions): Lending {
  if (refused) return { borrow: async () => undefined, close: async () => undefined }
  return new Pool(projects, notices, options)
}

class Pool implements Lending {
  readonly #projects: Projects
  readonly #notices: Notices
  readonly #options: LentProjectOptions
  /** By real path, the one that was used last at the end. */
  readonly #pool = new Map<string, LentProject>()
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  constructor(projects: Projects, notices: Notices, options: LentProjectOptions) {
    this.#projects = projects
    this.#notices = notices
    this.#options = options
  }

  async borrow(directory: string, signal: AbortSignal): Promise<Loan | undefined> {
    if (this.#closed || this.#projects.holds(this.#options.paths.cwd, directory)) return undefined
    const cwd = this.#projects.real(directory)
    const project = this.#project(cwd)
    project.users++
    try {
      await project.read()
      const connects = project.hasServers && this.#hasRoomFor(project, cwd)
      if (connects) await project.connect(signal)
      if (connects || project.hasOverrides) return this.#loan(project, cwd)
    } catch (thrown) {
      this.#warn(`The MCP servers of ${cwd} could not be set up: ${messageOf(thrown)}`)
    }
    this.#returned(project, cwd)
    return undefined
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const cwd of this.#pool.keys()) this.#drop(cwd)
    await Promise.allSettled(this.#ending)
  }

  #project(cwd: string): LentProject {
    const known = this.#pool.get(cwd)
    const project =
      known ?? new LentProject(cwd, this.#options, (diagnostic) => this.#notices.say(diagnostic))
    this.#pool.delete(cwd)
    this.#pool.set(cwd, project)
    return project
  }

  /** Whether it may have its servers started, now that the one that was used longest ago has made room for it. */
  #hasRoomFor(project: LentProject, cwd: string): boolean {
    const others = [...this.#pool].filter(([, other]) => other !== project && other.isRunning)
    if (others.length < MOST_PROJECTS) return true
    const [idle] = others.find(([, other]) => other.users === 0) ?? []
    if (idle !== undefined) this.#drop(idle)
    else
      this.#warn(
        `The MCP servers of ${cwd} are not lent: those of ${MOST_PROJECTS} other projects are in use.`,
      )
    return idle !== undefined
  }

  #loan(project: LentProject, cwd: string): Loan {
    let has = true
    return {
      get servers() {
        return project.servers
      },
      server: (name) => project.server(name),
      override: (name) => project.override(name),
      tools: (taken) => project.tools(taken),
      giveBack: () => {
        if (!has) return
        has = false
        this.#returned(project, cwd)
      },
    }
  }

  #returned(project: LentProject, cwd: string): void {
    project.users--
    if (project.users === 0 && !project.isRunning && this.#pool.get(cwd) === project) this.#drop(cwd)
  }

  #drop(cwd: string): void {
    const ended = this.#pool.get(cwd)?.close()
    this.#pool.delete(cwd)
    if (!ended) return
    this.#ending.add(ended)
    void ended.catch(() => undefined).finally(() => this.#ending.delete(ended))
  }

  #warn(message: string): void {
    this.#notices.say({ severity: 'warning', message })
  }
}

import { existsSync } from 'node:fs'
import type { AgentSession, ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import {
  type AgentOutcome,
  type Agents,
  type AgentTask,
  cleanText,
  createProjects,
  type HostPaths,
  messageOf,
} from '@tapline/core'
import { approvalOnCommandLine } from '../approval.ts'
import { fromPi } from '../from-pi.ts'
import { INFO } from '../info.ts'
import type { Notices } from '../notices.ts'
import { currentModel } from './current.ts'
import type { Lending } from './lending.ts'
import { runningCopy } from './running-copy.ts'
import type { SharedTools } from './tools.ts'
import { pruneTranscripts } from './transcripts.ts'

/** A run that was told to end is waited for this long, in milliseconds: a tool may not listen. */
const GRACE_MS = 5_000
/** Longer timers end at once. */
const LONGEST_TIMER_MS = 2_147_483_647
const LONGEST_ERROR = 500

/** What {@link createAgents} takes. */
export interface AgentsOptions {
  readonly pi: ExtensionAPI
  readonly ctx: ExtensionContext
  readonly paths: HostPaths
  readonly notices: Notices
  /** Undefined while Tapline is being set up: a sub-agent then has no tools of servers. */
  shared(): SharedTools | undefined
}

/** Sub-agents, and the servers that were connected for them alone. */
export interface SessionAgents extends Agents {
  /** Ends those servers within a bounded time. */
  close(): Promise<void>
}

/** Sub-agents of one pi session, in pi's own process and through its own SDK; undefined where pi cannot be found. */
export function createAgents(options: AgentsOptions): SessionAgents | undefined {
  const { pi, ctx } = options
  const copy = runningCopy(ctx)
  if (!copy) return undefined
  let lending: Promise<Lending> | undefined
  const start = async (task: AgentTask): Promise<SubAgent> => {
    const sdk = await copy.load()
    // Most sessions run none.
    const { startSubSession } = await import('./sub-session.ts')
    lending ??= lendingFor(options)
    const loan = options.shared() && (await (await lending).borrow(task.cwd, task.signal))
    try {
      const reach = { shared: options.shared(), loan }
      const session = await startSubSession(sdk, { pi, ctx, reach }, task)
      const end = (): void => {
        session.dispose()
        loan?.giveBack()
      }
      return { session, end }
    } catch (thrown) {
      loan?.giveBack()
      throw thrown
    }
  }
  return {
    current: () => currentModel(pi, ctx),
    run: (task) => new Run(task).result(() => start(task)),
    close: async () => (await lending)?.close(),
  }
}

/** With --no-approve no project's files are used, this one's or another's. */
async function lendingFor({ pi, ctx, paths, notices, shared }: AgentsOptions): Promise<Lending> {
  const { createLending } = await import('./lending.ts')
  const { credentials, isModelProvider } = fromPi(pi, ctx, paths)
  return createLending({
    info: INFO,
    mode: ctx.mode,
    env: process.env,
    paths,
    ...(credentials ? { credentials } : {}),
    ...(isModelProvider ? { isModelProvider } : {}),
    session: () => shared()?.tapline.kernel,
    running: (name) => {
      const spec = shared()?.tapline.server(name)?.spec
      return spec?.enabled === true && spec.source.scope !== 'project' ? spec : undefined
    },
    projects: createProjects(paths.home),
    notices,
    refused: approvalOnCommandLine(process.argv) === false,
  })
}

type Stop = Pick<AgentOutcome, 'error'> & { readonly status: Exclude<AgentOutcome['status'], 'completed'> }

/** A session that works on a task. */
interface SubAgent {
  readonly session: AgentSession
  /** Ends it and gives back what it had. */
  end(): void
}

/** One task on its way. */
class Run {
  readonly #task: AgentTask
  readonly #stopping = Promise.withResolvers<undefined>()
  #agent: SubAgent | undefined
  #stopped: Stop | undefined
  #costUsd = 0
  #last: { readonly stopReason: string; readonly errorMessage?: string } | undefined

  constructor(task: AgentTask) {
    this.#task = task
  }

  async result(start: () => Promise<SubAgent>): Promise<AgentOutcome> {
    const { signal, timeoutMs, transcriptDir } = this.#task
    const timer = setTimeout(
      () => this.#stop('timeout', `it did not end within ${Math.round(timeoutMs / 1_000)} s`),
      Math.min(timeoutMs, LONGEST_TIMER_MS),
    )
    const abort = (): void => this.#stop('aborted', 'it was aborted')
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      if (!this.#stopped) await this.#work(start())
    } catch (thrown) {
      this.#stop('failed', messageOf(thrown))
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const outcome = this.#outcome()
    this.#agent?.end()
    pruneTranscripts(transcriptDir)
    return outcome
  }

  async #work(starting: Promise<SubAgent>): Promise<void> {
    const agent = await Promise.race([starting, this.#stopping.promise])
    if (!agent) {
      void starting.then((late) => late.end()).catch(() => undefined)
      return
    }
    this.#agent = agent
    const { session } = agent
    session.subscribe((event) => {
      // Told to stop before it had begun, which pi does not remember.
      if (event.type === 'agent_start' && this.#stopped) this.#abort()
      if (event.type === 'message_end' && event.message.role === 'assistant') this.#answered(event.message)
    })
    const working = session.prompt(this.#task.prompt, { expandPromptTemplates: false })
    working.catch(() => undefined)
    await Promise.race([working, this.#stopping.promise])
    if (this.#stopped) await Promise.race([working.catch(() => undefined), pause(GRACE_MS)])
  }

  #answered(message: {
    readonly stopReason: string
    readonly errorMessage?: string
    readonly usage: { readonly cost: { readonly total: number } }
  }): void {
    this.#last = message
    this.#costUsd += message.usage.cost.total
    try {
      const goesOn = this.#task.onCost?.(this.#costUsd) !== false
      // What has said its last word has done its work.
      if (!goesOn && message.stopReason === 'toolUse') this.#stop('over_budget', 'the budget is spent')
    } catch (thrown) {
      this.#stop('failed', messageOf(thrown))
    }
  }

  #stop(status: Stop['status'], error: string): void {
    if (this.#stopped) return
    this.#stopped = { status, error: cleanText(error, LONGEST_ERROR) }
    this.#stopping.resolve(undefined)
    // At once: what the model has asked for last is not begun any more.
    this.#abort()
  }

  #abort(): void {
    void this.#agent?.session.abort().catch(() => undefined)
  }

  #outcome(): AgentOutcome {
    const session = this.#agent?.session
    if (!this.#stopped && this.#last?.stopReason !== 'stop') this.#stop('failed', whyItEnded(this.#last))
    const transcript = session?.sessionFile
    return {
      status: 'completed',
      ...this.#stopped,
      text: session?.getLastAssistantText() ?? '',
      costUsd: this.#costUsd,
      ...(transcript !== undefined && existsSync(transcript) ? { transcript } : {}),
    }
  }
}

function whyItEnded(
  last: { readonly stopReason: string; readonly errorMessage?: string } | undefined,
): string {
  if (last === undefined) return 'the model did not answer'
  if (last.stopReason === 'length') return 'the answer was longer than the model may write'
  return last.errorMessage || `the model ended with "${last.stopReason}"`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

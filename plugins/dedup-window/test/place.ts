import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as immediately, setTimeout as sleep } from 'node:timers/promises'
import {
  createKernel,
  type DedupVerdict,
  files,
  type Files,
  type Host,
  type HostPaths,
  type Trigger,
} from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { onTestFinished } from 'vitest'
import { dedupWindow, type DedupWindowOptions } from '../src/index.ts'

/** A machine of its own: a loops directory and a project. */
export interface Place {
  readonly project: string
  readonly loopsDir: string
  readonly paths: HostPaths
  /** `dedup.json`. */
  readonly path: string
  /** The key as it stands in the file. */
  key(key: string): string
  /** The parsed file. */
  read(): Record<string, Record<string, unknown>>
  write(content: unknown): void
  /** The names in the loops directory. */
  names(): string[]
}

export function createPlace(loops = 'loops'): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dedup-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const project = join(root, 'project')
  const loopsDir = join(root, loops)
  const path = join(loopsDir, 'dedup.json')
  mkdirSync(project)
  return {
    project,
    loopsDir,
    paths: { cwd: project, home: root, agentDir: root, loopsDir },
    path,
    key: (key) => `${key}@${project}`,
    read: () => JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, unknown>>,
    write: (content) => {
      mkdirSync(loopsDir, { recursive: true })
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    },
    names: () => readdirSync(loopsDir).toSorted(),
  }
}

/** A trigger; by default the next push of one key. */
export function trigger(traceId: string, overrides: Partial<Trigger> = {}): Trigger {
  return {
    kind: 'trigger',
    traceId,
    source: 'mcp',
    server: 'builds',
    method: 'notifications/build',
    key: 'key',
    replacement: 'drop',
    summary: traceId,
    receivedAt: Date.now(),
    ...overrides,
  }
}

/** One session with the plugin. */
export interface Session {
  /** The verdict at the hook, for the scope `project`. */
  ask(asked: Trigger, held?: boolean): Promise<DedupVerdict | undefined>
  /** Asks and settles: delivered. Answers what the verdict was. */
  deliver(traceId: string, overrides?: Partial<Trigger>): Promise<string | undefined>
  /** What was said to the person. */
  readonly warnings: readonly string[]
  dispose(): Promise<void>
}

export async function openSession(
  place: Place,
  options: DedupWindowOptions = {},
  host: Partial<Host> = {},
): Promise<Session> {
  const warnings: string[] = []
  const kernel = await createKernel({
    plugins: [dedupWindow(options)],
    host: testHost({ paths: place.paths, ...host }),
    report: ({ message }) => void warnings.push(`REPORTED ${message}`),
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
  })
  onTestFinished(() => kernel.dispose())
  const ask: Session['ask'] = (asked, held) =>
    kernel.hooks.dedup.promise({ trigger: asked, scope: 'project', ...(held ? { held } : {}) })
  return {
    ask,
    deliver: async (traceId, overrides) => {
      const verdict = await ask(trigger(traceId, overrides))
      if (verdict?.verdict === 'first') verdict.done?.()
      return verdict?.verdict
    },
    warnings,
    dispose: () => kernel.dispose(),
  }
}

/** A lock of this process alone, for tests whose clock would make every other look stale. */
export interface FilesInTurn {
  readonly files: Files
  /** Resolves when nobody has the lock or is about to take it: what was to be written is. */
  quiet(): Promise<void>
}

export function filesInTurn(): FilesInTurn {
  let last: Promise<unknown> = Promise.resolve()
  return {
    files: {
      ...files,
      locked: (path, work) => {
        mkdirSync(dirname(path), { recursive: true })
        const mine = last.then(work)
        last = mine.catch(() => undefined)
        return mine
      },
    },
    quiet: async () => {
      for (let turns = 0, seen: unknown; turns < 5; turns++) {
        if (last !== seen) turns = 0
        await (seen = last)
        await immediately()
      }
    },
  }
}

/** The verdict, which has to be `first`. */
export function first(verdict: DedupVerdict | undefined): Extract<DedupVerdict, { verdict: 'first' }> {
  if (verdict?.verdict !== 'first') throw new Error(`not first: ${JSON.stringify(verdict)}`)
  return verdict
}

/** The answer of `look` once it no longer throws; its last failure after about ten seconds. Real time passes, whatever the clocks say. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  for (let left = 1_000; ; left--) {
    try {
      return await look()
    } catch (thrown) {
      if (left === 0) throw thrown
      await sleep(10)
    }
  }
}

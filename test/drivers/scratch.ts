import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { killQuietly, onTestExit, processesNaming } from './processes.ts'

/** A directory of its own for one test: home, agent directory, temporary directory, project. */
export interface Scratch extends AsyncDisposable {
  readonly root: string
  readonly home: string
  readonly agent: string
  readonly tmp: string
  readonly project: string
  /** Writes a file below the root, JSON unless it is a string, and returns its path. */
  write(file: string, content: unknown): string
  /** Ends what still runs with this directory in its environment or command line, and removes it. */
  dispose(): Promise<void>
}

/** Options of a scratch directory. */
export interface ScratchOptions {
  /** `shared` keeps one TMPDIR for the whole test process, so that pi's loader cache is warm from the second start on. */
  readonly tmp?: 'own' | 'shared'
}

let shared: string | undefined

function sharedTmp(): string {
  if (shared === undefined) {
    const directory = mkdtempSync(path.join(tmpdir(), 'tapline-tmp-'))
    onTestExit(() => rmSync(directory, { recursive: true, force: true }))
    shared = directory
  }
  return shared
}

/** Makes a scratch directory; it is removed on dispose, or at the latest when the test process exits. */
export function createScratch({ tmp = 'own' }: ScratchOptions = {}): Scratch {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'tapline-')))
  const make = (name: string) => {
    mkdirSync(path.join(root, name))
    return path.join(root, name)
  }
  const end = () => {
    for (const { pid } of processesNaming(root)) killQuietly(pid)
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }
  const forget = onTestExit(end)
  const dispose = async () => {
    forget()
    end()
  }
  return {
    root,
    home: make('home'),
    agent: make('agent'),
    tmp: tmp === 'shared' ? sharedTmp() : make('tmp'),
    project: make('project'),
    write(file, content) {
      const target = path.join(root, file)
      mkdirSync(path.dirname(target), { recursive: true })
      writeFileSync(target, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
      return target
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  }
}

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { warmTmp } from './loader-caches.ts'
import { killQuietly, processesNaming } from './processes.ts'
import { makeDirectory } from './test-root.ts'

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
  /** `shared` is one TMPDIR for the whole test process: pi's loader cache is warm from the second start on. */
  readonly tmp?: 'own' | 'shared'
}

/** Makes a scratch directory; it is removed on dispose, or at the latest when the test process ends. */
export function createScratch({ tmp = 'own' }: ScratchOptions = {}): Scratch {
  const root = makeDirectory('scratch')
  const make = (name: string) => {
    mkdirSync(path.join(root, name))
    return path.join(root, name)
  }
  const dispose = async () => {
    for (const { pid } of processesNaming(root)) killQuietly(pid)
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }
  return {
    root,
    home: make('home'),
    agent: make('agent'),
    tmp: tmp === 'shared' ? warmTmp() : make('tmp'),
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

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HostPaths } from '@tapline/core'
import { onTestFinished } from 'vitest'

/** A home with an agent directory, and a project, in a temporary directory that goes with the test. */
export interface Place {
  readonly root: string
  readonly paths: HostPaths
  /** Writes a file below the root, JSON unless it is a text or bytes, and answers its path. */
  write(file: string, content: unknown): string
  read(file: string): string
}

export function createPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'headless-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const agentDir = join(root, 'agent')
  const cwd = join(root, 'project')
  mkdirSync(agentDir)
  mkdirSync(join(cwd, '.pi'), { recursive: true })
  return {
    root,
    paths: { home: root, agentDir, cwd, loopsDir: join(agentDir, 'loops') },
    write(file, content) {
      const path = join(root, file)
      mkdirSync(dirname(path), { recursive: true })
      const isRaw = typeof content === 'string' || content instanceof Uint8Array
      writeFileSync(path, isRaw ? content : JSON.stringify(content))
      return path
    },
    read: (file) => readFileSync(join(root, file), 'utf8'),
  }
}

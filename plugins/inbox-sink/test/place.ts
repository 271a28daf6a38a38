import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProjects, files, type HostPaths, type Trigger } from '@tapline/core'
import { onTestFinished } from 'vitest'
import { type Inbox, type InboxEntry, type InboxOptions, openInbox } from '../src/index.ts'

/** A state directory and a project in a temporary directory that goes with the test. */
export interface Place {
  readonly root: string
  readonly paths: HostPaths
  /** The path of `inbox.jsonl`. */
  readonly path: string
  /** Another process's view of the inbox: a store of its own. */
  open(options?: Partial<InboxOptions>): Inbox
  write(content: string | Uint8Array): void
  /** The lines of the file. */
  lines(): string[]
}

export function createPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'inbox-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const paths = { home: root, agentDir: root, cwd: join(root, 'project'), loopsDir: join(root, 'loops') }
  mkdirSync(paths.cwd)
  mkdirSync(paths.loopsDir)
  const path = join(paths.loopsDir, 'inbox.jsonl')
  return {
    root,
    paths,
    path,
    open: (options) =>
      openInbox({ files, loopsDir: paths.loopsDir, projects: createProjects(root), ...options }),
    write: (content) => writeFileSync(path, content),
    lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1),
  }
}

/** A finding; each has a run id of its own. */
export const finding = (text: string, more: object = {}) => ({
  source: 'trigger:mcp:hub',
  runId: crypto.randomUUID(),
  cwd: '/home/ann/app',
  text,
  ...more,
})

export const trigger = (summary: string, more: Partial<Trigger> = {}): Trigger => ({
  kind: 'trigger',
  traceId: crypto.randomUUID(),
  source: 'mcp',
  server: 'hub',
  method: 'notifications/build',
  key: crypto.randomUUID(),
  replacement: 'drop',
  summary,
  receivedAt: Date.now(),
  ...more,
})

export const byText = (inbox: Inbox, text: string): InboxEntry => {
  const entry = inbox.entries().find((candidate) => candidate.text === text)
  if (!entry) throw new Error(`nothing says "${text}": ${JSON.stringify(inbox.entries())}`)
  return entry
}

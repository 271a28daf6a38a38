import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Transcripts that are kept in one directory, the newest ones. */
const KEPT = 40

/** Removes the oldest transcripts of a directory. Best effort: a transcript too many does no harm. */
export function pruneTranscripts(directory: string): void {
  try {
    const found = readdirSync(directory)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(directory, name))
      .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .toSorted((a, b) => b.at - a.at)
    for (const { path } of found.slice(KEPT)) rmSync(path, { force: true })
  } catch {
    // Not made yet, or not ours to change.
  }
}

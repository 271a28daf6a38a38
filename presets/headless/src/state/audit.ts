import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditRow, cleanLines, cut, files, settledWithin } from '@tapline/core'
import { redact } from '@tapline/triggers'

/** Beyond this many bytes the older half goes. */
const LARGEST = 2 * 1024 * 1024
const LONGEST_SUMMARY = 4_096
/** Rows that wait for the lock; further ones are left out. */
const MOST_WAITING = 10_000
/** A session that ends waits no longer for the lock. */
const FLUSH_MS = 2_000

/** The audit trail of this machine. */
export interface Audit {
  write(row: AuditRow): void
  /** Resolves when what was given so far is written, after two seconds at the latest. */
  flush(): Promise<void>
}

/**
 * `<loops dir>/triggers-audit.jsonl`, one JSON object a line: `ts` and the row. Best effort: a trail that cannot be
 * written is said once to `onFailure` and holds nothing up.
 */
export function auditTrail(loopsDir: string, onFailure: (message: string) => void): Audit {
  const path = join(loopsDir, 'triggers-audit.jsonl')
  let waiting: string[] = []
  let writing: Promise<void> | undefined
  let failed = false
  const fail = (why: string): void => {
    if (!failed) onFailure(`the audit trail ${path} cannot be written: ${why}`)
    failed = true
  }

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      try {
        await files.locked(path, () => {
          shorten(path)
          files.append(path, lines.join('\n'))
        })
      } catch (thrown) {
        fail((thrown as Error).message)
      }
    }
    writing = undefined
  }
  return {
    write: (row) => {
      if (waiting.length >= MOST_WAITING)
        return fail(`${MOST_WAITING} rows wait for its lock; further rows are left out.`)
      try {
        waiting.push(JSON.stringify({ ts: new Date().toISOString(), ...redacted(row) }))
      } catch {
        return
      }
      writing ??= Promise.resolve().then(drain)
    },
    flush: () => settledWithin(FLUSH_MS, () => writing ?? Promise.resolve()),
  }
}

function redacted(row: AuditRow): AuditRow {
  const { summary, details } = row
  return {
    ...row,
    ...(summary === undefined ? {} : { summary: cut(redact(cleanLines(summary)), LONGEST_SUMMARY) }),
    ...(details === undefined
      ? {}
      : {
          details: JSON.parse(JSON.stringify(details), (_key, value: unknown) =>
            typeof value === 'string' ? cut(redact(cleanLines(value)), LONGEST_SUMMARY) : value,
          ) as Record<string, unknown>,
        }),
  }
}

/** Under the lock, so that no row of another process is lost. */
function shorten(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LARGEST) return
  const text = readFileSync(path, 'utf8')
  const middle = text.indexOf('\n', text.length / 2)
  files.write(path, middle < 0 ? '' : text.slice(middle + 1))
}

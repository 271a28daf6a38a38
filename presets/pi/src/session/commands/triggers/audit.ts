import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditRow, cleanText, messageOf } from '@tapline/core'
import type { Subcommand } from './subcommand.ts'

type Row = AuditRow & { readonly ts: string }

const LONGEST_SUMMARY = 120
const MOST_ROWS = 1_000

/** `/triggers audit`. */
export const showAudit: Subcommand = {
  names: ['audit'],
  usage: '[N=10] [--all]',
  description: 'the last rows of the audit trail, of this project or of every one',
  complete: () => [{ value: '10' }, { value: '50' }, { value: '--all', description: 'every project' }],
  run: (rest, ctx, scope) => {
    const words = rest.split(/\s+/).filter(Boolean)
    const all = words.includes('--all')
    const [count = '10', ...further] = words.filter((word) => word !== '--all')
    if (!/^[1-9]\d*$/.test(count) || further.length > 0)
      throw new Error('usage: /triggers audit [N=10] [--all]')
    const { cwd, loopsDir } = scope.paths
    const { services, projects } = scope.tapline
    const path = services.rules?.status().auditPath ?? join(loopsDir, 'triggers-audit.jsonl')
    const rows = rowsOf(path).filter((row) => all || projects.same(row.cwd, cwd))
    const shown = rows.slice(-Math.min(Number(count), MOST_ROWS))
    const title = `Audit trail (${shown.length} of ${rows.length}${all ? '' : ' of this project'}): ${path}`
    ctx.ui.notify([title, ...shown.map(rowLine)].join('\n'), 'info')
  },
}

/** Rows that are whole; a torn or foreign line is passed over. Throws when the trail cannot be read. */
function rowsOf(path: string): readonly Row[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`The audit trail cannot be read: ${messageOf(thrown)}`, { cause: thrown })
  }
  return text.split('\n').flatMap((line) => {
    try {
      const row = JSON.parse(line) as Row
      const whole = [row.ts, row.type, row.traceId, row.cwd, row.state].every(
        (value) => typeof value === 'string',
      )
      return whole ? [row] : []
    } catch {
      return []
    }
  })
}

function rowLine({ ts, type, traceId, state, sourceLabel, eventLabel, summary, details }: Row): string {
  const facts = [
    ...(typeof details?.['reason'] === 'string' ? [`(${details['reason']})`] : []),
    ...(typeof details?.['cost_usd'] === 'number' && details['cost_usd'] > 0
      ? [`$${details['cost_usd']}`]
      : []),
  ]
  const parts = [ts, type, state, traceId.slice(0, 8), sourceLabel, eventLabel, summary, ...facts]
  return `  ${parts
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .map((part) => cleanText(part, LONGEST_SUMMARY))
    .join(' ')}`
}

import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS, type Stage } from '../stage.ts'

/** One line of the inbox. */
export interface Finding {
  readonly id: string
  readonly text: string
  readonly status: string
  readonly [field: string]: unknown
}

const FILE = 'agent/loops/inbox.jsonl'

/** What stands in the inbox. */
export function findings({ scratch }: Pick<Stage, 'scratch'>): Finding[] {
  const file = path.join(scratch.root, FILE)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Finding)
}

/** Waits until so many findings stand there. */
export async function findingsArrive(stage: Pick<Stage, 'scratch'>, count: number): Promise<Finding[]> {
  const enough = () => (findings(stage).length >= count ? findings(stage) : undefined)
  return waitUntil(
    enough,
    PATIENCE_MS,
    () => `${count} findings; there are ${JSON.stringify(findings(stage))}`,
  )
}

/** An inbox as another program has left it. */
export function writeFindings(
  { scratch }: Pick<Stage, 'scratch'>,
  ...lines: readonly Partial<Finding>[]
): void {
  const whole = (line: Partial<Finding>, n: number) => ({
    id: `inb-${`${'abcdef'[n % 6]}${n}`.padEnd(32, '0')}`,
    created_at: '2026-10-03T12:00:00+00:00',
    status: 'new',
    kind: 'news',
    source: 'trigger:mcp:hub',
    run_id: `run-${n}`,
    cwd: '',
    ...line,
  })
  scratch.write(FILE, lines.map((line, n) => `${JSON.stringify(whole(line, n))}\n`).join(''))
}

/** What the footer says of the inbox; undefined when it says nothing of it. */
function badge(pi: Pi): string | undefined {
  return pi.events.findLast(
    ({ method, statusKey }) => method === 'setStatus' && statusKey === 'tapline-inbox',
  )?.statusText as string | undefined
}

/** Waits until the footer says so. */
export async function badgeSays(pi: Pi, text: string | undefined): Promise<void> {
  await waitUntil(
    () => badge(pi) === text,
    PATIENCE_MS,
    () => `${text} in the footer: ${badge(pi)}`,
  )
}

/** What `/inbox` and its subcommands print. */
export async function inbox(pi: Pi, args = ''): Promise<string> {
  return (await pi.command(`/inbox ${args}`.trim())).join('\n')
}

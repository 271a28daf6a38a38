import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { textOf, transcript, type Parsed, type ReceivedRequest } from '../../drivers/chat.ts'
import type { Turn } from '../../drivers/fake-model.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS, type Stage } from '../stage.ts'

/** An entry of triggers.json, as far as tests look at it. */
export interface StoredRule {
  readonly id: string
  readonly condition: string
  readonly action: string
  readonly enabled: boolean
  readonly fireOnce: boolean
  readonly promoteToChat: boolean
  readonly cwd: string
  readonly firedAt?: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutMs?: number
  readonly createdBy?: { readonly sessionId?: string }
  readonly consecutiveFailures?: number
}

/** An id that begins with these hex digits. */
export function ruleId(begin: string): string {
  return `dyn-${begin.padEnd(32, '0')}`
}

/** Writes triggers.json with these rules, of the stage's project unless they say otherwise. */
export function writeRules(stage: Stage, ...rules: readonly Partial<StoredRule>[]): void {
  const entries = rules.map((rule, index) => ({
    id: ruleId(String(index + 1)),
    condition: 'a build has failed',
    action: 'say which one',
    enabled: true,
    fireOnce: true,
    promoteToChat: false,
    createdAt: '2026-01-01T00:00:00Z',
    cwd: stage.scratch.project,
    createdBy: {},
    ...rule,
  }))
  stage.scratch.write('agent/loops/triggers.json', { version: 1, rules: entries })
}

/** The rules as they are on disk. */
export function storedRules({ scratch }: Stage): readonly StoredRule[] {
  const file = path.join(scratch.agent, 'loops', 'triggers.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).rules : []
}

/** The audit trail, oldest first. */
export function auditRows({ scratch }: Stage): readonly Parsed[] {
  const file = path.join(scratch.agent, 'loops', 'triggers-audit.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** Waits for a row of the audit trail with this state. */
export async function audited(stage: Stage, state: string): Promise<Parsed> {
  const find = () => auditRows(stage).find((row) => row.state === state)
  return waitUntil(
    find,
    PATIENCE_MS,
    () => `"${state}" in ${JSON.stringify(auditRows(stage).map((row) => row.state))}`,
  )
}

function inboxEntries({ scratch }: Stage): readonly Parsed[] {
  const file = path.join(scratch.agent, 'loops', 'inbox.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** Waits until the inbox has so many entries. */
export async function inboxHolds(stage: Stage, count: number): Promise<readonly Parsed[]> {
  const look = () => (inboxEntries(stage).length >= count ? inboxEntries(stage) : undefined)
  return waitUntil(look, PATIENCE_MS, () => `${count} in the inbox: ${JSON.stringify(inboxEntries(stage))}`)
}

/** Whether it is a sub-agent that asks. */
export function isCheck(request: ReceivedRequest): boolean {
  return transcript(request).includes('You are a background agent')
}

/** The requests that sub-agents made. */
export function checks({ model }: Stage): readonly ReceivedRequest[] {
  return model.requests().filter(isCheck)
}

/** The requests of the chat. */
export function chatRequests({ model }: Stage): readonly ReceivedRequest[] {
  return model.requests().filter((request) => !isCheck(request))
}

/** What a sub-agent was asked, the first thing that it reads. */
export function taskOf({ body }: ReceivedRequest): string {
  return textOf(body.messages.find(({ role }) => role === 'user')?.content)
}

/** A sub-agent that reports these rules and then says something. */
export function reports(ids: readonly string[], text: string): readonly Turn[] {
  const matches = ids.map((id) => ({ id }))
  return [
    { when: isCheck, toolCalls: [{ name: 'report_matches', args: { matches } }] },
    { when: isCheck, text },
  ]
}

/** Waits until no check runs here. */
export async function settledChecks(pi: Pi): Promise<void> {
  let shown = ''
  const look = async () => {
    shown = (await pi.command('/triggers running')).join('\n')
    return /^0 of \d+ sub-agent slot\(s\) in use$/m.test(shown)
  }
  await waitUntil(look, PATIENCE_MS, () => `no check to run: ${shown}`)
}

import type { AgentTool } from '@tapline/core'
import { reasonOf } from '../troubles.ts'

/** The tool by which a sub-agent says which rules match. Ids anywhere else mean nothing. */
export const REPORT_TOOL = 'report_matches'

/** What a check's sub-agent has reported. */
export interface Report {
  /** Whether it has said which rules match, be it none. */
  readonly made: boolean
  /** Accepted: these rules' actions may have begun. */
  readonly matched: readonly string[]
  /** They match too, which could not be recorded: nothing may have been done about it. */
  readonly unrecorded: readonly string[]
  /** Why not. */
  readonly obstacle: string | undefined
  /** Ids that it was not given. */
  readonly unknown: readonly string[]
  readonly tool: AgentTool
  /** From now on nothing is accepted. Resolves when what was accepted is recorded. */
  close(): Promise<void>
}

/** What accepts a report. */
export interface ReportOptions {
  /** The ids of the rules of this check. */
  readonly ids: readonly string[]
  /**
   * Records durably that these match, before the sub-agent may act; answers those of which that is true for the first
   * time. A throw means that it could not be recorded.
   */
  record(ids: readonly string[]): Promise<readonly string[]>
  /** Told of ids that are no rules of this check. */
  onUnknown(ids: readonly string[]): void
}

const MOST_MATCHES = 1_000

/** The report of one check. */
export function openReport({ ids, record, onUnknown }: ReportOptions): Report {
  const matched = new Set<string>()
  const unrecorded = new Set<string>()
  const unknown = new Set<string>()
  let obstacle: string | undefined
  let made = false
  let closed = false
  /** One call after the other, should a model make several at once. */
  let last: Promise<unknown> = Promise.resolve()

  const accept = async (args: Readonly<Record<string, unknown>>): Promise<string> => {
    if (closed) throw new Error('This check has ended. Do nothing more.')
    const named = namedIn(args)
    const strangers = named.filter((id) => !ids.includes(id))
    const fresh = named.filter((id) => ids.includes(id) && !matched.has(id))
    const repeated = named.filter((id) => matched.has(id))
    if (strangers.length > 0) {
      for (const id of strangers) unknown.add(id)
      onUnknown(strangers)
    }
    const accepted = fresh.length === 0 ? [] : await recorded(fresh)
    for (const id of accepted) matched.add(id)
    if (strangers.length === 0 || fresh.length > 0 || repeated.length > 0) made = true
    const refused = fresh.filter((id) => !accepted.includes(id))
    const said = sentences(strangers, [...repeated, ...accepted], refused)
    if (strangers.length > 0) throw new Error(said)
    return said
  }
  const recorded = async (fresh: readonly string[]): Promise<readonly string[]> => {
    try {
      const accepted = await record(fresh)
      for (const id of fresh) unrecorded.delete(id)
      return accepted
    } catch (thrown) {
      for (const id of fresh) unrecorded.add(id)
      obstacle = `That these rules match could not be recorded (${reasonOf(thrown)}).`
      throw new Error(`${obstacle} Do not carry out their actions.`, { cause: thrown })
    }
  }
  return {
    get made() {
      return made
    },
    get matched() {
      return [...matched]
    },
    get unrecorded() {
      return [...unrecorded]
    },
    get obstacle() {
      return obstacle
    },
    get unknown() {
      return [...unknown]
    },
    close: async () => {
      closed = true
      await last
    },
    tool: {
      name: REPORT_TOOL,
      description:
        'Reports which of the given rules match, before any action is carried out. Call it exactly once, with an empty list when no rule matches.',
      parameters: PARAMETERS,
      execute: (args) => {
        const answer = last.then(() => accept(args))
        last = answer.catch(() => undefined)
        return answer
      },
    },
  }
}

const PARAMETERS = {
  type: 'object',
  properties: {
    matches: {
      type: 'array',
      description: 'One entry for each rule whose condition holds; empty when none does.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'The exact id of the rule, as it was given.' },
          note: { type: 'string', description: 'Why its condition holds, in a few words.' },
        },
        required: ['id'],
        additionalProperties: false,
      },
    },
  },
  required: ['matches'],
  additionalProperties: false,
} as const

function namedIn({ matches }: Readonly<Record<string, unknown>>): readonly string[] {
  const wrong = new Error('matches must be a list of { id, note? }; an empty list says that no rule matches.')
  if (!Array.isArray(matches) || matches.length > MOST_MATCHES) throw wrong
  const named = matches.map((match: unknown) => {
    const id = typeof match === 'object' && match !== null ? (match as { id?: unknown }).id : undefined
    if (typeof id !== 'string') throw wrong
    return id.trim()
  })
  return [...new Set(named)]
}

function sentences(
  strangers: readonly string[],
  accepted: readonly string[],
  refused: readonly string[],
): string {
  const shown = strangers.slice(0, 5).map((id) => `"${id.slice(0, 60)}"`)
  return [
    ...(strangers.length > 0 ? [`Not a rule of this check, and ignored: ${shown.join(', ')}.`] : []),
    ...(refused.length > 0
      ? [
          `No longer enabled, because it has fired or was disabled meanwhile: ${refused.join(', ')}. Do not carry out its action.`,
        ]
      : []),
    accepted.length > 0
      ? `Recorded. Now carry out the action of ${accepted.join(', ')}, and of no other rule.`
      : 'Recorded: no rule is to be acted on. End with: no dynamic trigger rule matched',
  ].join(' ')
}

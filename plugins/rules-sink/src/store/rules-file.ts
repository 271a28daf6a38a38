import { statSync } from 'node:fs'
import type { Files } from '@tapline/core'
import { reasonOf } from '../troubles.ts'
import type { Rule } from '../types.ts'
import { isRulesFile, ruleOf, type RulesFile, withoutHost } from './entry.ts'

/** What is read of the file: its rules, and what keeps it from being used. */
export interface RulesRead {
  readonly rules: readonly Rule[]
  readonly problem?: string
}

/** The file, read as often as it changes and changed under its lock. */
export interface RulesFileAccess {
  read(): RulesRead
  /** Adds an entry. A file that cannot be used is kept under another name first. */
  append(rule: Rule): Promise<void>
  /** Replaces entries; undefined removes one. Throws a sentence when the file cannot be used or written. */
  change(replace: (entry: unknown, rule: Rule | undefined) => unknown): Promise<void>
  /** What keeps the file from being used or written, as a sentence. Tried anew once a write has failed. */
  obstacle(): Promise<string | undefined>
}

/** Told of the file. */
export interface RulesFileEvents {
  /** It could not be used, was about to be replaced, and is there now. */
  onSetAside?(path: string, keptAs: string): void
  /** It was written, or could not be, as a sentence. */
  onWrite?(failure: string | undefined): void
}

/** Access to a file of rules. */
export function rulesFile(
  path: string,
  lock: string,
  { files, ...events }: RulesFileEvents & { readonly files: Files },
): RulesFileAccess {
  let usable = false
  let unwritten: string | undefined
  const file = files.json<RulesFile>({
    path,
    lock,
    empty: () => ({ version: 1, rules: [] }),
    accepts: (content): content is RulesFile => {
      usable = isRulesFile(content)
      return usable
    },
    onSetAside: (from, keptAs) => events.onSetAside?.(from, keptAs),
  })
  let seen: { readonly signature: string; readonly read: RulesRead } | undefined

  const readAnew = (exists: boolean): RulesRead => {
    usable = false
    try {
      const { rules } = file.read()
      if (exists && !usable)
        return { rules: [], problem: `${path} is not a list of rules in JSON, so no rule is used. ${ADVICE}` }
      return { rules: distinct(rules.flatMap((entry) => ruleOf(entry) ?? [])) }
    } catch (thrown) {
      return {
        rules: [],
        problem: `${path} cannot be read (${reasonOf(thrown)}), so no rule is used.`,
      }
    }
  }
  const read = (): RulesRead => {
    const signature = signatureOf(path)
    if (seen?.signature !== signature) seen = { signature, read: readAnew(signature !== 'missing') }
    return seen.read
  }
  const update = async (change: (content: RulesFile) => RulesFile): Promise<void> => {
    let written = false
    try {
      await file.update((content) => {
        const next = change(content)
        written = next !== content
        return next
      })
      if (written) unwritten = undefined
    } catch (thrown) {
      unwritten = `${path} could not be changed: ${reasonOf(thrown)}`
      throw new Error(unwritten, { cause: thrown })
    } finally {
      seen = undefined
      events.onWrite?.(unwritten)
    }
  }
  return {
    read,
    append: (rule) => update((content) => ({ ...content, rules: [...content.rules.map(withoutHost), rule] })),
    change: async (replace) => {
      const { problem } = read()
      if (problem !== undefined) throw new Error(problem)
      await update((content) => {
        const replaced = content.rules.map((entry) => replace(entry, ruleOf(entry)))
        const rules = replaced.filter((entry) => entry !== undefined)
        const same =
          rules.length === content.rules.length && rules.every((rule, n) => rule === content.rules[n])
        return same ? content : { ...content, rules: rules.map(withoutHost) }
      })
    },
    obstacle: async () => {
      const { problem } = read()
      if (problem !== undefined || unwritten === undefined) return problem
      // Written as it is, to see whether it can be.
      await update((content) => ({ ...content })).catch(() => undefined)
      return unwritten
    },
  }
}

const ADVICE = 'Mend it or move it away; as soon as a rule is added, it is kept under another name.'

/** Changes with every write, since files are replaced and not written over. */
function signatureOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : 'missing'
  } catch {
    return 'unknown'
  }
}

function distinct(rules: readonly Rule[]): readonly Rule[] {
  const byId = new Map<string, Rule>()
  for (const rule of rules) if (!byId.has(rule.id)) byId.set(rule.id, rule)
  return [...byId.values()]
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Files, Projects } from '@tapline/core'
import { stamp } from '../stamps.ts'
import type { NewRule, Rule, RuleChanges, RuleStore } from '../types.ts'
import { withoutControls } from '../checks/wording.ts'
import { checkRule } from '../wording/schedule.ts'
import { changed } from './entry.ts'
import { resolveRule } from './references.ts'
import { rulesFile, type RulesFileAccess, type RulesFileEvents, type RulesRead } from './rules-file.ts'

/** Where the rules of a machine are. */
export interface RulesPlace extends RulesFileEvents {
  readonly files: Files
  readonly loopsDir: string
  /** Tells which rules are a project's. */
  readonly projects: Projects
}

/** What checks change beside what people do. */
export interface CheckedRules extends RuleStore {
  /** All rules and what keeps them from being used, in one look. The list is the same one as long as the file is. */
  snapshot(): RulesRead
  /** What keeps what a check finds from being recorded, as a sentence: then none is worth its money. */
  obstacle(): Promise<string | undefined>
  /**
   * A check says that these conditions hold: those that fire once are disabled. Answers the ids of which that was
   * true: of two checks that say so of one rule that fires once, the first. Throws when it cannot be written.
   */
  fired(ids: readonly string[]): Promise<readonly string[]>
  /** The checks of the first failed, those of the others did not. */
  checked(failed: readonly string[], succeeded: readonly string[]): Promise<void>
  /** The directories of these rules are missing, or there again. */
  missing(since: ReadonlyMap<string, string | undefined>): Promise<void>
  /** Disables a rule by itself. */
  disable(id: string, reason: string): Promise<void>
}

/** The rules of this machine, without an engine. */
export function openRules(place: RulesPlace): RuleStore {
  return openCheckedRules(place)
}

/** The rules of this machine, with what an engine does to them. */
export function openCheckedRules(place: RulesPlace): CheckedRules {
  const path = join(place.loopsDir, 'triggers.json')
  const file = rulesFile(path, join(place.loopsDir, 'triggers.lock'), place)
  const { projects } = place
  const all = (): readonly Rule[] => file.read().rules
  const edit = async (id: string, changes: (rule: Rule) => Readonly<Record<string, unknown>>) => {
    await file.change((entry, rule) => (rule?.id === id ? changed(entry, changes(rule)) : entry))
    return all().find((rule) => rule.id === id)
  }
  return {
    path,
    snapshot: () => file.read(),
    obstacle: () => file.obstacle(),
    list: (scope) => ('all' in scope ? all() : all().filter((rule) => projects.same(rule.cwd, scope.cwd))),
    get: (id) => all().find((rule) => rule.id === id),
    problem: () => file.read().problem,
    resolve: (ref, cwd) => {
      const { rules, problem } = file.read()
      if (problem !== undefined) return { error: problem }
      return resolveRule(ref, rules, (rule) => projects.same(rule.cwd, cwd))
    },
    add: async (rule) => {
      const made = ruleFrom(rule, projects)
      await file.append(made)
      return made
    },
    remove: async (id) => {
      const removed = all().find((rule) => rule.id === id)
      if (removed) await file.change((entry, rule) => (rule?.id === id ? undefined : entry))
      return removed
    },
    setEnabled: (id, enabled) =>
      edit(id, () => (enabled ? { enabled, ...FRESH } : { enabled, disabledReason: undefined })),
    set: async (id, changes) => {
      checkChanges(changes)
      return edit(id, () =>
        Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? undefined])),
      )
    },
    ...checking(file, edit),
  }
}

/** What a rule no longer has once a person enabled it. */
const FRESH = {
  firedAt: undefined,
  disabledReason: undefined,
  consecutiveFailures: undefined,
  lastCheckFailedAt: undefined,
  cwdMissingSince: undefined,
}

function checking(
  file: RulesFileAccess,
  edit: (id: string, changes: (rule: Rule) => Readonly<Record<string, unknown>>) => Promise<unknown>,
): Pick<CheckedRules, 'fired' | 'checked' | 'missing' | 'disable'> {
  return {
    fired: async (ids) => {
      const fired: string[] = []
      await file.change((entry, rule) => {
        if (!rule?.enabled || !ids.includes(rule.id)) return entry
        fired.push(rule.id)
        return changed(entry, { firedAt: stamp(Date.now()), enabled: !rule.fireOnce })
      })
      return fired
    },
    checked: async (failed, succeeded) => {
      await file.change((entry, rule) => {
        if (rule === undefined) return entry
        if (failed.includes(rule.id)) {
          const consecutiveFailures = (rule.consecutiveFailures ?? 0) + 1
          return changed(entry, { consecutiveFailures, lastCheckFailedAt: stamp(Date.now()) })
        }
        if (!succeeded.includes(rule.id) || rule.consecutiveFailures === undefined) return entry
        return changed(entry, { consecutiveFailures: undefined, lastCheckFailedAt: undefined })
      })
    },
    missing: async (since) => {
      await file.change((entry, rule) =>
        rule !== undefined && since.has(rule.id)
          ? changed(entry, { cwdMissingSince: since.get(rule.id) })
          : entry,
      )
    },
    disable: async (id, reason) => {
      await edit(id, () => ({ enabled: false, disabledReason: reason }))
    },
  }
}

function ruleFrom(rule: NewRule, projects: Projects): Rule {
  // What nobody sees nobody has agreed to.
  const condition = withoutControls(rule.condition).trim()
  const action = withoutControls(rule.action).trim()
  const refusal = checkRule({ condition, action })
  if (refusal !== undefined) throw new Error(refusal)
  const { model, thinking, timeoutMs } = rule
  checkChanges(rule)
  return {
    id: `dyn-${randomBytes(16).toString('hex')}`,
    condition,
    action,
    enabled: true,
    fireOnce: rule.fireOnce ?? true,
    promoteToChat: rule.promoteToChat ?? false,
    createdAt: stamp(Date.now()),
    cwd: projects.real(rule.cwd),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    createdBy: { ...rule.createdBy },
  }
}

/** Beyond this a timer would fire at once. */
const LONGEST_TIMEOUT_MS = 24 * 60 * 60_000

function checkChanges({ model, thinking, timeoutMs }: RuleChanges): void {
  if (model != null && !/^[^\s/]+\/\S+$/.test(model))
    throw new Error(`"${model}" is no model: write provider/model, for example anthropic/claude-sonnet-4-5.`)
  if (thinking != null && !/^[a-z]+$/.test(thinking))
    throw new Error(`"${thinking}" is no thinking level: write one of pi's, for example low.`)
  if (
    timeoutMs != null &&
    !(Number.isFinite(timeoutMs) && timeoutMs >= 1_000 && timeoutMs <= LONGEST_TIMEOUT_MS)
  )
    throw new Error('A check may take between one second and 24 hours.')
}

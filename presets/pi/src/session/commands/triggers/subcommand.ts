import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import type { Rule, Rules } from '@tapline/rules-sink'
import type { CommandScope, Completions } from '../command.ts'

/** One word after `/triggers`. The dispatcher, the help, the usage and the completions are all made of these. */
export interface Subcommand {
  /** The first is the one that is taught. */
  readonly names: readonly [string, ...string[]]
  /** What follows the name. */
  readonly usage?: string
  readonly description: string
  /** A throw is shown as it is. */
  run(rest: string, ctx: ExtensionCommandContext, scope: CommandScope): Promise<void> | void
  /** What may follow the name; `typed` is what stands there. */
  complete?(typed: string, tapline: Tapline | undefined, paths: HostPaths): readonly Candidate[]
}

/** Something that may be typed next. */
export interface Candidate {
  readonly value: string
  readonly description?: string
}

/** The candidates that begin with what was typed, behind the word before them. */
export function completionsOf(name: string, typed: string, candidates: readonly Candidate[]): Completions {
  const fitting = candidates.filter(({ value }) => value.startsWith(typed) && value !== typed)
  if (fitting.length === 0) return null
  return fitting.map(({ value, description }) => ({
    value: `${name} ${value}`,
    label: value,
    ...(description === undefined ? {} : { description }),
  }))
}

/** The rules of this session. Throws where there are none. */
export function rulesOf({ tapline }: CommandScope): Rules {
  const { rules } = tapline.services
  if (!rules) throw new Error('There are no rules here: the plugin "rules-sink" is disabled in tapline.*.')
  return rules
}

/** The same, but throws what keeps them from being read: they are not none then. */
export function readableRules(scope: CommandScope): Rules {
  const rules = rulesOf(scope)
  const problem = rules.store.problem()
  if (problem !== undefined) throw new Error(problem)
  return rules
}

const printed = new WeakMap<Tapline, readonly string[]>()

/** The ids that numbers stand for: those of the list that was printed last, or of this project's rules when none was. */
export function numberedIds(tapline: Tapline, cwd: string): readonly string[] {
  return printed.get(tapline) ?? tapline.services.rules?.store.list({ cwd }).map(({ id }) => id) ?? []
}

/** Remembers the list that a person was shown: numbers stand for its entries. */
export function rememberPrinted({ tapline }: CommandScope, rules: readonly Rule[]): void {
  printed.set(
    tapline,
    rules.map(({ id }) => id),
  )
}

/** The rule that a person means by a number, an id or the beginning of one. Throws a sentence when there is none. */
export function ruleNamed(ref: string, scope: CommandScope): Rule {
  const { store } = readableRules(scope)
  if (!/^\d+$/.test(ref)) {
    const found = store.resolve(ref, scope.paths.cwd)
    if ('error' in found) throw new Error(found.error)
    return found.rule
  }
  const ids = numberedIds(scope.tapline, scope.paths.cwd)
  const id = ids[Number(ref) - 1]
  if (id === undefined) throw new Error(`There is no rule ${ref}: this project has ${ids.length}.`)
  const rule = store.get(id)
  if (!rule) throw new Error(`Rule ${ref} of the list (${id}) is gone; /triggers rules prints what there is.`)
  return rule
}

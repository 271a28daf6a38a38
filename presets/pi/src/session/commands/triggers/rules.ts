import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { cleanText } from '@tapline/core'
import type { Rule } from '@tapline/rules-sink'
import { UNRELAYED } from '../../approvals.ts'
import { ruleLines, ruleName, ruleNames } from '../../rules-text.ts'
import type { CommandScope } from '../command.ts'
import {
  type Candidate,
  numberedIds,
  readableRules,
  rememberPrinted,
  ruleNamed,
  rulesOf,
  type Subcommand,
} from './subcommand.ts'

const ALL: readonly Candidate[] = [
  { value: '--all', description: "this project's rules" },
  { value: '--all-projects', description: 'every rule on this machine' },
]

/** What a rule is called on the command line, with the number that it has in the printed list. */
export const candidates: NonNullable<Subcommand['complete']> = (_typed, tapline, { cwd }) => {
  const ids = tapline ? numberedIds(tapline, cwd) : []
  return (tapline?.services.rules?.store.list({ cwd }) ?? []).map(({ id, condition }) => {
    const number = ids.indexOf(id) + 1
    return { value: id, description: `${number === 0 ? '' : `${number}. `}${cleanText(condition, 80)}` }
  })
}

const candidatesOrAll: NonNullable<Subcommand['complete']> = (...args) => [...candidates(...args), ...ALL]

/** `/triggers rules`. */
export const listRules: Subcommand = {
  names: ['rules'],
  usage: '[--all]',
  description: 'the rules of this project, or of every project',
  complete: () => [{ value: '--all', description: 'every project' }],
  run: (rest, ctx, scope) => {
    if (rest !== '' && rest !== '--all') throw new Error('usage: /triggers rules [--all]')
    const { store } = rulesOf(scope)
    const own = store.list({ cwd: scope.paths.cwd })
    const problem = store.problem()
    rememberPrinted(scope, own)
    const ownIds = new Set(own.map(({ id }) => id))
    const others = store.list({ all: true }).filter(({ id }) => !ownIds.has(id))
    const lines = own.flatMap((rule, index) => ruleLines(rule, index + 1))
    if (rest === '--all') lines.push(...others.flatMap((rule) => ruleLines(rule, undefined)))
    else if (others.length > 0) lines.push(`  + ${others.length} in other projects: /triggers rules --all`)
    if (problem !== undefined) lines.push(`  ! ${problem}`)
    const count = rest === '--all' ? own.length + others.length : own.length
    const none = '  none here; /new-trigger <what to watch for, and what to do then> makes one'
    const body = own.length + others.length === 0 || lines.length === 0 ? [...lines, none] : lines
    ctx.ui.notify([`Dynamic trigger rules (${count}):`, ...body].join('\n'), 'info')
  },
}

/** `/triggers enable` and `/triggers disable`. */
export const [enableRules, disableRules] = [true, false].map((enabled): Subcommand => ({
  names: enabled ? ['enable', 'resume'] : ['disable', 'pause'],
  usage: '<n|id>|--all|--all-projects',
  description: enabled
    ? 'checks rules again, as if they had never fired'
    : 'leaves rules alone until they are enabled',
  complete: candidatesOrAll,
  run: async (rest, ctx, scope) => {
    const word = enabled ? 'enable' : 'disable'
    const changed: Rule[] = []
    for (const { id, enabled: is } of chosen(word, rest, scope)) {
      const rule =
        is === enabled && rest.startsWith('--')
          ? undefined
          : await rulesOf(scope).store.setEnabled(id, enabled)
      if (rule) changed.push(rule)
    }
    ctx.ui.notify(report(`${word}d`, changed), 'info')
  },
})) as [Subcommand, Subcommand]

/** `/triggers remove`. */
export const removeRules: Subcommand = {
  names: ['remove', 'rm', 'delete'],
  usage: '<n|id>|--all|--all-projects',
  description: 'removes rules',
  complete: candidatesOrAll,
  run: async (rest, ctx, scope) => {
    const rules = chosen('remove', rest, scope)
    if (rest.startsWith('--') && rules.length > 0 && !(await confirmed(rules, rest, ctx))) return
    // Those that were shown, and no others that came meanwhile.
    const removed: Rule[] = []
    for (const { id } of rules) {
      const rule = await rulesOf(scope).store.remove(id)
      if (rule) removed.push(rule)
    }
    ctx.ui.notify(report('removed', removed), 'info')
  },
}

async function confirmed(
  rules: readonly Rule[],
  rest: string,
  ctx: ExtensionCommandContext,
): Promise<boolean> {
  if (!ctx.hasUI) return true
  const where = rest === '--all' ? 'of this project' : 'of every project on this machine'
  const question = `Remove ${counted(rules.length)} ${where}?`
  const { confirmIn } = await import('../../dialogs/index.ts')
  return confirmIn(ctx, question, ruleNames(rules).join('\n'), UNRELAYED)
}

/** The rules that the words after a subcommand mean. Throws when they mean none. */
function chosen(command: string, rest: string, scope: CommandScope): readonly Rule[] {
  const { store } = readableRules(scope)
  if (rest === '--all') return store.list({ cwd: scope.paths.cwd })
  if (rest === '--all-projects') return store.list({ all: true })
  if (rest === '' || /\s|^--/.test(rest))
    throw new Error(`usage: /triggers ${command} <n|id>|--all|--all-projects`)
  return [ruleNamed(rest, scope)]
}

function report(what: string, rules: readonly Rule[]): string {
  if (rules.length === 0) return `no rule to be ${what}`
  return rules.length === 1
    ? `${what} ${ruleName(rules[0] as Rule)}`
    : [`${what} ${counted(rules.length)}:`, ...ruleNames(rules).map((name) => `  ${name}`)].join('\n')
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'rule' : 'rules'}`
}

import type { ExtensionAPI, ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { RuleChanges } from '@tapline/rules-sink'
import { ruleLines } from '../../rules-text.ts'
import { candidates } from './rules.ts'
import { ruleNamed, rulesOf, type Subcommand } from './subcommand.ts'

const USAGE = '<n|id> [--model provider/id|-] [--thinking level|-] [--timeout duration|-]'
const FLAGS: readonly string[] = ['--model', '--thinking', '--timeout']
const THINKING_LEVELS: readonly string[] = Object.keys({
  off: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
} satisfies Record<ThinkingLevel, true>)
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

type ThinkingLevel = ReturnType<ExtensionAPI['getThinkingLevel']>

/** `/triggers set`. */
export const setRule: Subcommand = {
  names: ['set'],
  usage: USAGE,
  description: 'gives a rule a model, a thinking level or a time limit of its own; - takes it away',
  complete: (typed, ...rest) => {
    const [, ref, flags] = /^(\S+) (.*)$/.exec(typed) ?? []
    if (ref === undefined || flags === undefined) return candidates(typed, ...rest)
    const before = /^(.* )?\S*$/.exec(flags)?.[1] ?? ''
    const next = before.endsWith('--thinking ')
      ? [...THINKING_LEVELS, '-']
      : FLAGS.filter((flag) => !before.includes(flag))
    return next.map((word) => ({ value: `${ref} ${before}${word}` }))
  },
  run: async (rest, ctx, scope) => {
    const [ref, ...words] = rest.split(/\s+/).filter(Boolean)
    if (ref === undefined || words.length === 0) throw new Error(`usage: /triggers set ${USAGE}`)
    const changes = changesOf(words, ctx)
    const { id } = ruleNamed(ref, scope)
    const rule = await rulesOf(scope).store.set(id, changes)
    if (!rule) throw new Error(`The rule ${id} is gone.`)
    ctx.ui.notify(['changed:', ...ruleLines(rule, undefined)].join('\n'), 'info')
  },
}

function changesOf(words: readonly string[], ctx: ExtensionCommandContext): RuleChanges {
  const pairs = words.flatMap((word) => (/^--\w+=/.test(word) ? word.split(/=(.*)/s, 2) : [word]))
  const changes: { -readonly [K in keyof RuleChanges]: RuleChanges[K] } = {}
  for (let at = 0; at < pairs.length; at += 2) {
    const [flag = '', value] = [pairs[at], pairs[at + 1]]
    if (flag === '--name') throw new Error('Rules have no name; what they are called is their condition.')
    if (!FLAGS.includes(flag)) throw new Error(`unknown option ${flag}. usage: /triggers set ${USAGE}`)
    if (value === undefined || value === '') throw new Error(`${flag} needs a value, or - to take it away.`)
    const given = value === '-' ? null : value
    if (flag === '--model') changes.model = given === null ? null : knownModel(given, ctx)
    else if (flag === '--thinking') changes.thinking = given === null ? null : knownLevel(given)
    else changes.timeoutMs = given === null ? null : durationOf(given)
  }
  return changes
}

function knownModel(name: string, { modelRegistry }: ExtensionCommandContext): string {
  const slash = name.indexOf('/')
  if (slash > 0 && modelRegistry.find(name.slice(0, slash), name.slice(slash + 1))) return name
  throw new Error(`pi does not know the model "${name}"; write it as provider/id, as /model lists it.`)
}

function knownLevel(name: string): string {
  if (THINKING_LEVELS.includes(name)) return name
  throw new Error(`"${name}" is no thinking level of pi: write one of ${THINKING_LEVELS.join(', ')}.`)
}

function durationOf(text: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? []
  if (amount === undefined) throw new Error(`"${text}" is no duration: write 90s, 15m or 2h.`)
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS])
}

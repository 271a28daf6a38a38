import { cleanText, cut } from '@tapline/core'
import type { Rule } from '@tapline/rules-sink'

const LONGEST_PART = 400
const MOST_NAMED = 20
/** More than a rule may have. */
const LONGEST_TEXT = 10_000

/** A rule as the model is told of it, on one line. */
export function ruleLine(rule: Rule, withProject: boolean): string {
  const { id, condition, action, createdAt, cwd } = rule
  const project = withProject ? ` cwd: ${cleanText(cwd, LONGEST_PART)}` : ''
  return `- ${id} [${flagsOf(rule)}] created_at=${cleanText(createdAt, LONGEST_PART)} condition: ${part(condition)} action: ${part(action)}${project}`
}

/** A rule as a person is shown it; `number` is its place in the list of this project. */
export function ruleLines(rule: Rule, number: number | undefined): readonly string[] {
  const { id, condition, action, cwd, model, thinking, timeoutMs, firedAt, disabledReason } = rule
  const { consecutiveFailures = 0 } = rule
  const facts = [
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(thinking === undefined ? [] : [`thinking ${thinking}`]),
    ...(timeoutMs === undefined ? [] : [`timeout ${durationText(timeoutMs)}`]),
    ...(firedAt === undefined ? [] : [`fired ${firedAt}`]),
    ...(consecutiveFailures === 0 ? [] : [`failed ${consecutiveFailures} times in a row`]),
  ]
  return [
    `  ${number === undefined ? '-' : `${number}.`} ${id} [${flagsOf(rule)}]`,
    `      when: ${part(condition)}`,
    `      then: ${part(action)}`,
    ...(number === undefined ? [`      in: ${cleanText(cwd, LONGEST_PART)}`] : []),
    ...(facts.length === 0 ? [] : [`      ${cleanText(facts.join(' · '), LONGEST_PART)}`]),
    ...(disabledReason === undefined ? [] : [`      disabled: ${part(disabledReason)}`]),
  ]
}

/** A rule in a few words, for messages about it. */
export function ruleName({ id, condition }: Rule): string {
  return `${id} (${cleanText(condition, 80)})`
}

/** Many rules in a few words each, of which the first are named. */
export function ruleNames(rules: readonly Rule[]): readonly string[] {
  const more = rules.length - MOST_NAMED
  return [...rules.slice(0, MOST_NAMED).map(ruleName), ...(more > 0 ? [`and ${more} more`] : [])]
}

/** `90s`, `15m`, `2h`: the largest unit that is exact. */
export function durationText(ms: number): string {
  const units = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const
  const unit = units.find(([, length]) => ms >= length && ms % length === 0)
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms`
}

function flagsOf({ enabled, fireOnce, promoteToChat }: Rule): string {
  return [
    enabled ? 'enabled' : 'disabled',
    fireOnce ? 'fire_once' : 'repeat',
    promoteToChat ? 'promote_to_chat' : 'audit_only',
  ].join(', ')
}

/** On one line. Who decides on it is told of what is not shown. */
export function shownText(text: string, limit = LONGEST_PART): string {
  const line = cleanText(text, LONGEST_TEXT)
  const shown = cut(line, limit)
  return shown === line ? line : `${shown} (${line.length} characters in all)`
}

function part(text: string): string {
  return cleanText(text, LONGEST_PART)
}

import { ruleOf, type PushPolicy, type PushRule } from '@tapline/core'
import { partsOf, type PushEntry, type SettingsFile } from './settings.ts'
import type { PluginFile } from './approval.ts'
import { quoted, word } from './words.ts'

const LONGEST = 2000
const MOST = 100
const MOST_VALUES = 10_000

/** What a person must see before saying yes to a project's settings, one thing a line. */
export function factsOf(file: SettingsFile, files: readonly PluginFile[]): readonly string[] {
  const { plugins = [], disable = [], options = {}, naming, apply, results = {}, push = {} } = file
  const { elicitation = {} } = file
  const facts = [
    ...plugins.map((name) =>
      pluginFact(
        name,
        files.find((found) => found.name === name),
      ),
    ),
    ...disable.map((name) => `leaves out the plugin ${quoted(name)}`),
    ...Object.entries(push).flatMap(([server, table]) => pushFacts(server, table)),
    ...Object.entries(options).flatMap(([plugin, table]) => optionFacts(plugin, table)),
    ...questionFacts(elicitation),
    ...(naming === undefined ? [] : [`names tools: ${shownValue(naming)}`]),
    ...(apply === undefined ? [] : [`applies changed tool lists: ${shownValue(apply)}`]),
    ...Object.entries(results).map(([name, value]) => `results: ${quoted(name)} = ${shownValue(value)}`),
  ].map(bounded)
  if (facts.length === 0) return ['sets nothing']
  if (facts.length <= MOST) return facts
  return [...facts.slice(0, MOST), `… and ${facts.length - MOST} more settings, not shown: read the file`]
}

/** What a person must see before saying yes to a project's settings that are code. */
export function factsOfCode(path: string): readonly string[] {
  return [
    `runs the code in ${word(path)}`,
    'what it imports is not checked again, nor are the plugins that it names',
  ]
}

function pluginFact(name: string, file: PluginFile | undefined): string {
  if (file === undefined)
    return `runs the plugin package ${quoted(name)}; the code of a package is not checked again`
  if (file.sha256 === undefined) return `names the plugin file ${quoted(name)}, which cannot be read now`
  return `runs the plugin file ${quoted(name)} (${word(file.path)}); what it imports is not checked again`
}

function optionFacts(plugin: string, table: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(table).map(
    ([name, value]) => `option of the plugin ${quoted(plugin)}: ${quoted(name)} = ${shownValue(value)}`,
  )
}

function pushFacts(server: string, table: Readonly<Record<string, PushEntry>>): readonly string[] {
  const whose = server === '*' ? 'every server' : quoted(server)
  const { push, subscribe = [], channel } = partsOf(table)
  return [
    ...Object.entries(push).map(
      ([method, policy]) =>
        `pushes of ${whose} (${method === 'default' ? 'all others' : quoted(method)}): ${meaning(policy)}`,
    ),
    ...(subscribe.length === 0 ? [] : [`subscribes at ${whose} to: ${subscribe.map(quoted).join(', ')}`]),
    ...(channel === true && server !== '*'
      ? [`lets ${whose} ask to be a channel: what it sends would start turns with its own words`]
      : []),
  ]
}

function questionFacts(elicitation: NonNullable<SettingsFile['elicitation']>): readonly string[] {
  const named = typeof elicitation === 'boolean' ? { '*': elicitation } : elicitation
  return Object.entries(named).map(
    ([name, may]) =>
      `${may ? 'lets' : 'does not let'} ${name === '*' ? 'every server' : quoted(name)} ask you questions`,
  )
}

function meaning(written: PushPolicy | PushRule): string {
  const { policy, limit, windows } = ruleOf(written)
  const shown = [
    policy === 'run'
      ? '"run", shown in the chat and each starts one turn'
      : policy === 'summary'
        ? '"summary", shown in the chat'
        : quoted(policy),
    ...(limit === undefined ? [] : [`at most ${quoted(limit)}`]),
    ...(windows === undefined ? [] : [`in windows: ${quoted(windows)}`]),
  ]
  return shown.join(', ')
}

/** A YAML file may hold itself, or a few lines that stand for millions. */
function shownValue(value: unknown): string {
  let left = MOST_VALUES
  const fits = (at: unknown, depth: number): boolean => {
    left -= 1
    if (left < 0 || depth > 100) return false
    return typeof at !== 'object' || at === null || Object.values(at).every((below) => fits(below, depth + 1))
  }
  return fits(value, 0) ? quoted(value) : `(more than ${MOST_VALUES} values, not shown: read the file)`
}

function bounded(fact: string): string {
  return fact.length > LONGEST
    ? `${fact.slice(0, LONGEST)}… (${fact.length - LONGEST} more characters, not shown: read the file)`
    : fact
}

import { cleanText, type ConfigState, type Diagnostic, type PushPolicies, ruleOf } from '@tapline/core'
import { builtInPlugins } from '../plugins/built-in.ts'
import { folded, partsOf, type Settings } from './settings.ts'
import { didYouMean, quoted } from './words.ts'

const POLICIES = ['ignore', 'log', 'inbox', 'summary', 'run', 'rules']

/** Whether Tapline itself knows the policy, with or without a plugin that fulfils it. */
export function isKnownPolicy(policy: string): boolean {
  return POLICIES.includes(policy)
}

/** Names in `disable` and `options` that no plugin has. */
export function strayPlugins(settings: Settings, loaded: readonly string[]): readonly Diagnostic[] {
  const known = [...new Set([...builtInPlugins().map(({ name }) => name), ...loaded])]
  const stray = (names: Iterable<string>, where: string): Diagnostic[] =>
    Array.from(names)
      .filter((name) => !known.includes(name))
      .map((name) =>
        warning(`"${where}" of tapline.*: no plugin is named ${shown(name)}.${didYouMean(name, known)}`),
      )
  return [...stray(settings.disable, 'disable'), ...stray(Object.keys(settings.options), 'options')]
}

/** Tables of servers that there are not, and policies that nothing fulfils. */
export function strayPushes(
  settings: Settings,
  { servers, diagnostics, questions }: ConfigState,
  hasSink: (name: string) => boolean,
): readonly Diagnostic[] {
  // A server whose entry is wrong has been named already, and one may be in a file that waits for its yes.
  const names = [...servers.map(({ name }) => name), ...diagnostics.flatMap(({ server }) => server ?? [])]
  const found = new Set(names.map(folded))
  const isThere = (name: string): boolean => name === '*' || found.has(folded(name)) || questions.length > 0
  const strayServers = (['push', 'elicitation'] as const).flatMap((key) =>
    Object.keys(settings[key])
      .filter((name) => !isThere(name))
      .map((name) =>
        warning(
          `"${key}" of tapline.*: no server is named ${shown(name)}; ${key === 'push' ? 'its policies do' : 'this does'} nothing.${didYouMean(name, names)}`,
        ),
      ),
  )
  const strayPolicies = (table: PushPolicies, whose: string, server?: string) =>
    Object.entries(table)
      .map(([method, written]) => [method, ruleOf(written).policy] as const)
      .filter(([, policy]) => !isKnownPolicy(policy) && !hasSink(policy))
      .map(([method, policy]) =>
        warning(
          `${whose}: ${shown(method)} has the policy ${shown(policy)}, which is not built in and no plugin provides.${didYouMean(policy, POLICIES)}`,
          server,
        ),
      )
  const strayChannel =
    partsOf(settings.push['*'] ?? {}).channel === undefined
      ? []
      : [warning('"push" of tapline.*, "*": "channel" does nothing here: name the server that may be one.')]
  return [
    ...strayServers,
    ...strayChannel,
    ...Object.entries(settings.push).flatMap(([name, table]) =>
      strayPolicies(partsOf(table).push, `"push" of tapline.*, ${shown(name)}`),
    ),
    ...servers.flatMap(({ name, push }) => strayPolicies(push, `server ${shown(name)}`, name)),
  ]
}

function shown(name: string): string {
  return quoted(cleanText(name, 100))
}

function warning(message: string, server?: string): Diagnostic {
  return { severity: 'warning', message, ...(server === undefined ? {} : { server }) }
}

import type { Observation } from './observation.ts'

/** A difference from pi's own MCP support that is wanted. */
export interface Difference {
  /** Its title in presets/pi/docs/differences.md. */
  readonly title: string
  /** Takes it out of what was seen; whatever else differs is a fault. */
  level(seen: Observation, under: 'pi' | 'tapline'): Observation
}

const RULE_TOOLS = new Set(['new_trigger', 'list_triggers', 'remove_trigger', 'set_trigger_state'])

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The wanted differences that a comparison of two runs shows. Each has its reason in the docs. */
export const DIFFERENCES: readonly Difference[] = [
  {
    title: 'Schemas and order are canonical',
    level: (seen) => ({
      ...seen,
      declared: seen.declared
        .map((tool) => ({
          ...tool,
          parameters: canonical(tool.parameters as Json) as Record<string, unknown>,
        }))
        .toSorted(byName),
      registered: seen.registered
        .map((tool) => ({
          ...tool,
          parameters: canonical(tool.parameters as Json),
          ...(tool.outputSchema ? { outputSchema: canonical(tool.outputSchema as Json) } : {}),
        }))
        .toSorted(byName),
      answers: answersOf(seen, (text) => offered(text, (names) => names.toSorted())),
    }),
  },
  {
    title: 'Rules have tools of their own',
    level: (seen) => ({
      ...seen,
      declared: seen.declared.filter(({ name }) => !RULE_TOOLS.has(name)),
      active: seen.active.filter((name) => !RULE_TOOLS.has(name)),
      answers: answersOf(seen, (text) =>
        offered(text, (names) => names.filter((name) => !RULE_TOOLS.has(name))),
      ),
    }),
  },
  {
    title: "A refusal says that it is the server's",
    level: (seen, under) => ({
      ...seen,
      answers: answersOf(seen, (text) =>
        under === 'tapline' ? text.replace('The server answered with error -32602: ', '') : text,
      ),
    }),
  },
  {
    title: 'Files of results lie in one directory',
    level: (seen) => ({
      ...seen,
      answers: answersOf(seen, (text) => text.replaceAll(/\/[^\s"\]]*\/(?:pi-)?mcp-\w+(?=\.txt)/g, '<file>')),
    }),
  },
  {
    title: 'Servers cannot write tags into the prompt',
    level: (seen, under) => ({
      ...seen,
      section: under === 'pi' ? seen.section?.replaceAll('<', '&lt;') : seen.section,
    }),
  },
]

function answersOf({ answers }: Observation, level: (text: string) => string): Observation['answers'] {
  return Object.fromEntries(Object.entries(answers).map(([call, text]) => [call, level(text)]))
}

/** The tools that codemode names where a script has called one that is not there. */
function offered(text: string, level: (names: readonly string[]) => readonly string[]): string {
  return text.replace(/(?<=Available: )[\w, ]+/, (names) => level(names.split(', ')).join(', '))
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

/** Keys in order, and no empty list of required properties. */
function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== 'required' || !Array.isArray(inner) || inner.length > 0)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  )
}

import type { Prompt } from './source.ts'

/** A prompt by the name of its command. */
export interface PromptCommand {
  /** `mcp:<server>:<prompt>`, without whitespace and `/`. */
  readonly name: string
  readonly server: string
  readonly prompt: Prompt
}

/** How every command begins. */
export const PREFIX = 'mcp:'

const LONGEST = 64
/** Everything but letters, digits, their marks and `_ . : -`; also letters that nobody sees. */
const UNUSABLE = /(?:[^\p{L}\p{M}\p{N}_.:-]|[\u115F\u1160\u3164\uFFA0])+/gu

/**
 * The commands of one server's prompts, in the order of their names. A prompt whose name can stand in a command as it is
 * has exactly that one; of others that want the same, later ones in the order of their names have a number behind it.
 * So the same list gives the same commands, in whatever order it came.
 */
export function commandsOf(server: string, prompts: readonly Prompt[]): readonly PromptCommand[] {
  const given = new Map<string, Prompt>()
  const changed: Prompt[] = []
  for (const prompt of prompts)
    if (plain(prompt.name) === prompt.name) given.set(prompt.name, prompt)
    else changed.push(prompt)
  for (const prompt of changed.toSorted((a, b) => byCodeUnits(a.name, b.name)))
    given.set(free(plain(prompt.name), given), prompt)
  return [...given]
    .map(([name, prompt]) => ({ name: `${PREFIX}${server}:${name}`, server, prompt }))
    .sort((a, b) => byCodeUnits(a.name, b.name))
}

/** What the name of a command says: server, and what stands behind it. Undefined for names that are none. */
export function splitCommand(name: string): { readonly server: string; readonly prompt: string } | undefined {
  const [, server, prompt] = /^mcp:([^\s/:]+):([^\s/]+)$/.exec(name) ?? []
  return server === undefined || prompt === undefined ? undefined : { server, prompt }
}

/** Orders by UTF-16 code units: the same on every machine, whatever its locale. */
export function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** As a command can hold it. */
function plain(name: string): string {
  return Array.from(name.toWellFormed().replace(UNUSABLE, '_')).slice(0, LONGEST).join('')
}

function free(wanted: string, given: ReadonlyMap<string, unknown>): string {
  let name = wanted
  for (let count = 2; given.has(name); count += 1) name = `${wanted}-${count}`
  return name
}

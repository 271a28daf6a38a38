import { createHash } from 'node:crypto'
import type { ToolNaming } from '@tapline/core'

/** What every provider accepts as the name of a tool. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

const LONGEST = 64
/** Digits of the suffix. The longer ones are for names made to collide. */
const SUFFIX_DIGITS = [8, 16, 32, 48]

/** Names of pi's own tools: reserved for original names also while a tool is switched off, so that a name never moves. */
const RESERVED = new Set(
  (
    'read bash powershell edit write grep find ls codemode tool_search ' +
    'list_mcp_resources list_mcp_resource_templates read_mcp_resource'
  ).split(' '),
)

/** The names that a tool would like to have, the best first. None of them need be free, short enough or valid. */
function wantedNames(naming: ToolNaming, server: string, tool: string): readonly [string, ...string[]] {
  switch (naming) {
    case 'mcp':
      // As pi and Codex do: without `-`, the name is also an identifier for scripts.
      return [`mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_]/g, '_')]
    case 'server':
      return [safe(`${server}__${tool}`)]
    case 'original':
      return [safe(tool), safe(`${server}_${tool}`)]
  }
}

/** The name of a tool: the first wanted one that is free, else one with a hash of server and tool at its end. */
export function toolName(
  naming: ToolNaming,
  server: string,
  tool: string,
  taken: (name: string) => boolean,
): string {
  const wanted = wantedNames(naming, server, tool)
  const reserved =
    naming === 'original' ? (name: string) => RESERVED.has(name) || name.startsWith('mcp__') : () => false
  for (const name of wanted) {
    if (TOOL_NAME.test(name) && !reserved(name) && !taken(name)) return name
  }
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex')
  // A name that is too long by itself is shortened; one that is taken keeps its server in front.
  const base = wanted[0].length > LONGEST ? wanted[0] : (wanted.at(-1) as string)
  let name = base
  for (const digits of SUFFIX_DIGITS) {
    name = `${base.slice(0, LONGEST - digits - 1)}_${hash.slice(0, digits)}`
    if (!reserved(name) && !taken(name)) break
  }
  return name
}

/**
 * Whether a name is wanted by several tools of one server. Then none of them gets it, so that nobody's
 * name depends on the order of the list, unless it is exactly what one of them is called.
 */
export function contestedNames(
  naming: ToolNaming,
  server: string,
  tools: readonly string[],
): (tool: string, name: string) => boolean {
  const first = new Map<string, number>()
  const second = new Map<string, number>()
  for (const tool of new Set(tools)) {
    const [best, other] = wantedNames(naming, server, tool)
    count(first, best)
    if (other !== undefined && !isExact(naming, server, tool, best)) count(second, other)
  }
  return (tool, name) => {
    const wanting = first.get(name) ?? 0
    if (name !== wantedNames(naming, server, tool)[0]) return wanting > 0 || (second.get(name) ?? 0) > 1
    return wanting > 1 && !isExact(naming, server, tool, name)
  }
}

/** The namespace of a server's tools, whatever they are called: as pi has it. */
export function toolNamespace(server: string): string {
  return `mcp__${server.replace(/-/g, '_')}`
}

/** How a person knows the tool: a label in lists, never a name to call. */
export function toolLabel(naming: ToolNaming, server: string, tool: string, name: string): string {
  if (naming === 'server') return name
  return naming === 'mcp' ? `${server}/${tool}` : `${server}: ${tool}`
}

/** Under pi's rule nobody is exact: all that collide get a hash. */
function isExact(naming: ToolNaming, server: string, tool: string, name: string): boolean {
  return naming !== 'mcp' && name === (naming === 'server' ? `${server}__${tool}` : tool)
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_')
}

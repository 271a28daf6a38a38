/** In UTF-16 units, as pi counts. */
const LONGEST_SECTION = 4_096
const LONGEST_SUMMARY = 250

/** A server as the prompt may speak of it. */
export interface PromptedServer {
  readonly name: string
  /** Every exposure that its tools can have by its entry. */
  readonly exposures: { has(exposure: 'codemode' | 'deferred'): boolean }
  readonly description?: string | undefined
  /** The server's own words, of which the first line stands in for a description. */
  readonly instructions?: string | undefined
}

/** The name under which codemode and tool search know a server's tools. */
export function namespaceOf(server: string): string {
  return `mcp__${server.replaceAll('-', '_')}`
}

/**
 * What the system prompt says of servers whose tools the model is not told of: how each is reached and one line
 * about it. Undefined when there are none. The text and its bounds are those of pi's own MCP support: summaries
 * shrink until all fit, then the last servers are counted and not named.
 */
export function serversSection(servers: readonly PromptedServer[]): string | undefined {
  const listed = servers
    .filter(({ exposures }) => exposures.has('codemode') || exposures.has('deferred'))
    .toSorted((a, b) => a.name.localeCompare(b.name))
  if (listed.length === 0) return undefined
  const opening = openingOf(listed)
  const heads = listed.map((server) => `- ${namespaceOf(server.name)} (${reachOf(server)})`)
  const assembled = (lines: readonly string[]): string =>
    [opening, ...lines, ...leftOut(heads.length - lines.length)].join('\n')

  let kept = heads.length
  while (kept > 0 && assembled(heads.slice(0, kept)).length > LONGEST_SECTION) kept--
  const left = LONGEST_SECTION - assembled(heads.slice(0, kept)).length
  const room = Math.min(LONGEST_SUMMARY, Math.floor(left / kept) - ': '.length)
  return assembled(
    heads.slice(0, kept).map((head, index) => {
      const summary = shortened(summaryOf(listed[index] as PromptedServer), room)
      return summary === '' ? head : `${head}: ${summary}`
    }),
  )
}

function reachOf({ exposures }: PromptedServer): 'codemode' | 'tool_search' {
  return exposures.has('codemode') ? 'codemode' : 'tool_search'
}

/** Explains only what the servers use. */
function openingOf(servers: readonly PromptedServer[]): string {
  const reaches = new Set(servers.map(reachOf))
  return [
    'MCP servers whose tools are not declared to you.',
    ...(reaches.has('codemode') ? ['Call the tools of `codemode` servers from codemode scripts.'] : []),
    ...(reaches.has('tool_search') ? ['Load the tools of `tool_search` servers with `tool_search`.'] : []),
  ].join(' ')
}

function leftOut(count: number): readonly string[] {
  return count === 0
    ? []
    : [`- … ${count} more server${count === 1 ? '' : 's'}; find their tools with searchTools()`]
}

/**
 * The first line of what is said of a server, unable to begin or end an element of the prompt. This is loaded
 * before core is, so it takes control and format characters out by itself.
 */
function summaryOf({ description, instructions }: PromptedServer): string {
  const [first = ''] = (description?.trim() || instructions?.trim() || '').split(/[\r\n]/, 1)
  return first
    .slice(0, LONGEST_SECTION)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .replaceAll('<', '&lt;')
}

/** At most `limit` UTF-16 units, no half characters, with an ellipsis where something was cut. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  if (limit <= 1) return ''
  const head = text.slice(0, limit - 1)
  return `${(head.isWellFormed() ? head : head.slice(0, -1)).trimEnd()}…`
}

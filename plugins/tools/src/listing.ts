import type { ServerTool, Session } from '@tapline/core'
import { isRecord } from './order.ts'
import { cleanLine } from './text.ts'

/** Bounds of {@link listAllTools}. */
export interface ListOptions {
  /** 64 when absent. */
  readonly maxPages?: number
  /** 10,000 when absent. */
  readonly maxTools?: number
}

/** What a server offers, and what was wrong with the list. */
export interface ToolListing {
  readonly tools: readonly ServerTool[]
  /** Sentences for a person. */
  readonly problems: readonly string[]
}

const LONGEST_NAME = 1_024
const MOST_PROBLEMS = 20

/** The whole list of a server, page after page, within bounds. Rejects when a page does. */
export async function listAllTools(
  session: Pick<Session, 'listTools'>,
  options: ListOptions = {},
): Promise<ToolListing> {
  const { maxPages = 64, maxTools = 10_000 } = options
  const tools = new Map<string, ServerTool>()
  const problems: string[] = []
  const problem = (sentence: string): void => {
    if (problems.length < MOST_PROBLEMS) problems.push(sentence)
    else problems[MOST_PROBLEMS] = 'There is more of this kind.'
  }
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page: { readonly tools: readonly unknown[]; readonly nextCursor?: unknown } =
      await session.listTools(cursor)
    for (const [index, entry] of page.tools.entries()) {
      const tool = serverTool(entry)
      if (tool === undefined)
        problem(`Entry ${index + 1} on page ${pages} of tools/list has no usable name and was left out.`)
      else if (tools.has(tool.name))
        problem(`Tool "${shown(tool.name)}" is listed twice; the first one counts.`)
      else if (tools.size < maxTools) tools.set(tool.name, tool)
      else {
        problem(`tools/list has more than ${maxTools} tools; the rest was left out.`)
        return { tools: [...tools.values()], problems }
      }
    }
    const next = page.nextCursor
    // Some servers end with null or "" instead of leaving the cursor out.
    if (next === undefined || next === null || next === '') break
    if (typeof next !== 'string' || cursors.has(next)) {
      problem('tools/list repeats its cursor; what was listed until then counts.')
      break
    }
    if (pages >= maxPages) {
      problem(`tools/list has more than ${maxPages} pages; the rest was left out.`)
      break
    }
    cursors.add(next)
    cursor = next
  }
  return { tools: [...tools.values()], problems }
}

/** The fields that Tapline reads, as far as they have the right type; icons and `_meta` stay behind. */
function serverTool(entry: unknown): ServerTool | undefined {
  if (!isRecord(entry)) return undefined
  const { name, title, description, inputSchema, outputSchema, annotations } = entry
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) return undefined
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema,
    ...(outputSchema === undefined || outputSchema === null ? {} : { outputSchema }),
    ...(isRecord(annotations) ? { annotations } : {}),
  }
}

function shown(name: string): string {
  return cleanLine(name, 100)
}

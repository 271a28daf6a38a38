import { isRecord, type Prompt, type PromptArgument, type PromptServer } from './source.ts'
import { cleanLine } from './text.ts'

/** What a server offers, and what was wrong with the list. */
export interface PromptListing {
  readonly prompts: readonly Prompt[]
  /** Sentences for a person. */
  readonly problems: readonly string[]
}

const MOST_PAGES = 64
const MOST_PROMPTS = 1_000
const MOST_ARGUMENTS = 50
const MOST_PROBLEMS = 20
const LONGEST_NAME = 1_024
const LONGEST_WORDS = 4_096
/** Characters of all that a list says, together. */
const MOST_TEXT = 4_000_000

/** The whole list of a server, page after page, within bounds; nothing of one that offers no prompts. Rejects when a page does. */
export async function listPrompts(server: PromptServer, signal?: AbortSignal): Promise<PromptListing> {
  const found = new Map<string, Prompt>()
  const problems: string[] = []
  if (server.capabilities?.['prompts'] === undefined) return { prompts: [], problems }
  const problem = (sentence: string): void => {
    if (problems.length < MOST_PROBLEMS) problems.push(sentence)
    else problems[MOST_PROBLEMS] = 'There is more of this kind.'
  }
  const cursors = new Set<string>()
  let cursor: string | undefined
  let size = 0
  for (let pages = 1; ; pages += 1) {
    const { entries, nextCursor } = pageIn(
      await server.request('prompts/list', cursor === undefined ? undefined : { cursor }, signal),
    )
    for (const [index, entry] of entries.entries()) {
      const prompt = promptIn(entry)
      if (prompt === undefined)
        problem(`Entry ${index + 1} on page ${pages} of prompts/list has no usable name and was left out.`)
      else if (found.has(prompt.name))
        problem(`Prompt "${cleanLine(prompt.name, 100)}" is listed twice; the first one counts.`)
      else {
        size += JSON.stringify(prompt).length
        const bound = boundReached(found.size, size)
        if (bound !== undefined) {
          problem(`prompts/list has more than ${bound}; the rest was left out.`)
          return { prompts: [...found.values()], problems }
        }
        found.set(prompt.name, prompt)
      }
    }
    // Some servers end with null or "" instead of leaving the cursor out.
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') break
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) {
      problem('prompts/list repeats its cursor; what was listed until then counts.')
      break
    }
    if (pages >= MOST_PAGES) {
      problem(`prompts/list has more than ${MOST_PAGES} pages; the rest was left out.`)
      break
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  return { prompts: [...found.values()], problems }
}

function boundReached(prompts: number, size: number): string | undefined {
  if (prompts >= MOST_PROMPTS) return `${MOST_PROMPTS} prompts`
  return size > MOST_TEXT ? `${MOST_TEXT} characters` : undefined
}

function pageIn(result: unknown): { readonly entries: readonly unknown[]; readonly nextCursor: unknown } {
  if (!isRecord(result) || !Array.isArray(result['prompts']))
    throw new Error('The server’s answer to prompts/list is no list of prompts.')
  return { entries: result['prompts'], nextCursor: result['nextCursor'] }
}

/** The fields that are read, as far as they have the right type; icons and `_meta` stay behind. */
function promptIn(entry: unknown): Prompt | undefined {
  if (!isRecord(entry)) return undefined
  const { name, title, description } = entry
  if (!isName(name)) return undefined
  return {
    name,
    ...(typeof title === 'string' ? { title: title.slice(0, LONGEST_NAME) } : {}),
    ...(typeof description === 'string' ? { description: description.slice(0, LONGEST_WORDS) } : {}),
    arguments: argumentsIn(entry['arguments']),
  }
}

function argumentsIn(value: unknown): readonly PromptArgument[] {
  const found = new Map<string, PromptArgument>()
  for (const entry of Array.isArray(value) ? (value as readonly unknown[]) : []) {
    if (!isRecord(entry) || !isName(entry['name']) || found.has(entry['name'])) continue
    if (found.size >= MOST_ARGUMENTS) break
    const { name, description, required } = entry
    found.set(name, {
      name,
      ...(typeof description === 'string' ? { description: description.slice(0, LONGEST_WORDS) } : {}),
      required: required === true,
    })
  }
  return [...found.values()]
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME
}

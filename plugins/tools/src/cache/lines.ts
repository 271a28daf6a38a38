/** One server in the file: a line of which only the beginning is read until its tools are wanted. */
export interface Line {
  readonly server: string
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  /** JSON of its tools. */
  readonly tools: string
}

const LARGEST_KEPT = 8 * 1024 * 1024
const MOST_SERVERS = 256
/** An entry that is in use is dated anew this often, so that the oldest are those that nobody uses. */
const REDATE_MS = 86_400_000

const HEAD = '{"tapline":"tools","version":1}'
const ANY_HEAD = /^\{"tapline":"tools","version":\d+\}$/
const LINE = /^\["([A-Za-z0-9_-]+)","([0-9a-f]{64})",(\d{1,16}),(\[.*\])\]$/
const SERVER = /^[A-Za-z0-9_-]+$/
const FINGERPRINT = /^[0-9a-f]{64}$/

/** Whether a line can carry this server and fingerprint. */
export function isKey(server: string, fingerprint: string): boolean {
  return SERVER.test(server) && FINGERPRINT.test(fingerprint)
}

/** The lines of a file; undefined when it is damaged, none when another version wrote it. */
export function parseFile(text: string): readonly Line[] | undefined {
  const [head = '', ...rest] = text.split('\n')
  if (head !== HEAD) return ANY_HEAD.test(head) ? [] : undefined
  if (rest.pop() !== '') return undefined
  const lines: Line[] = []
  for (const line of rest) {
    const match = LINE.exec(line)
    if (!match) return undefined
    const [, server = '', fingerprint = '', savedAt = '', tools = ''] = match
    lines.push({ server, fingerprint, savedAt: Number(savedAt), tools })
  }
  return lines
}

/** The file with these lines. */
export function formatFile(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ server, fingerprint, savedAt, tools }) => `["${server}","${fingerprint}",${savedAt},${tools}]`,
  )
  return [HEAD, ...rows, ''].join('\n')
}

/** `before` with `fresh` in it, the newest first and within the bounds; `before` itself when nothing is new. */
export function mergeLines(before: readonly Line[], fresh: readonly Line[]): readonly Line[] {
  const known = new Map(before.map((line) => [keyOf(line), line]))
  const news = fresh.filter((line) => {
    const old = known.get(keyOf(line))
    return old?.tools !== line.tools || Math.abs(line.savedAt - old.savedAt) >= REDATE_MS
  })
  if (news.length === 0) return before
  for (const line of news) known.set(keyOf(line), line)
  let room = LARGEST_KEPT
  return [...known.values()]
    .sort((a, b) => b.savedAt - a.savedAt)
    .slice(0, MOST_SERVERS)
    .filter((line) => {
      const size = Buffer.byteLength(line.tools)
      if (size > room) return false
      room -= size
      return true
    })
}

function keyOf({ server, fingerprint }: Line): string {
  return `${server} ${fingerprint}`
}

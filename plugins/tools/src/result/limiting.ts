import { cutEnd, cutMiddle } from './cutting.ts'

/** What reaches the model: text and images, as pi takes them. */
export type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }

/** Keeps data that the model is not shown, and answers the path. `extension` begins with a dot. */
export type SaveFile = (data: string | Uint8Array, extension: string) => Promise<string>

/** How {@link limitContent} limits. */
export interface Limit {
  readonly maxBytes: number
  /** Whether the notes count too. pi's 20 KB are of the text alone. */
  readonly hard: boolean
  readonly saveFile: SaveFile
}

/** Content within its limit. */
export interface LimitedContent {
  readonly content: readonly ModelContent[]
  readonly fullOutputPath?: string
}

/** More blocks of text than this become one. */
const MOST_TEXTS = 1_000

/**
 * Text above the limit becomes one block with its middle cut out, and the whole goes to a file that is
 * named in it. Images follow it: their bytes are no text.
 */
export async function limitContent(content: readonly ModelContent[], limit: Limit): Promise<LimitedContent> {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const images = content.filter((block) => block.type === 'image')
  const whole = texts.join('\n')
  const first = cutMiddle(whole, limit.maxBytes)
  if (!first)
    return { content: texts.length > MOST_TEXTS ? [{ type: 'text', text: whole }, ...images] : content }
  const saved = await save(whole, limit)
  const head =
    `Warning: truncated output (original token count: ${Math.ceil(first.totalBytes / 4)})\n` +
    `Total output lines: ${first.totalLines}\n\n`
  let { text } = first
  if (limit.hard) {
    // The marker is at its longest when everything is cut.
    const notes = Buffer.byteLength(`${head}…${whole.length} chars truncated…${saved.note}`)
    text = cutMiddle(whole, Math.max(0, limit.maxBytes - notes))?.text ?? ''
  }
  const shown = `${head}${text}${saved.note}`
  return {
    content: [{ type: 'text', text: limit.hard ? cutEnd(shown, limit.maxBytes) : shown }, ...images],
    ...(saved.path === undefined ? {} : { fullOutputPath: saved.path }),
  }
}

async function save(
  whole: string,
  { saveFile }: Limit,
): Promise<{ readonly note: string; readonly path?: string }> {
  try {
    const path = await saveFile(whole, '.txt')
    return { path, note: `\n\n[Full output: ${path} (read it with offset/limit)]` }
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    return { note: `\n\n[Could not save the full output: ${reason}]` }
  }
}

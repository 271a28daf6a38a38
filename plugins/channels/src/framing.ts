import type { Trigger } from '@tapline/core'

/** What an attribute may be called. */
export const ATTRIBUTE_NAME = /^[A-Za-z0-9_]+$/

/**
 * An event as the model reads it: `<channel source="NAME" key="value" …>content</channel>`. `source` is the
 * configured name of the server. Nothing in content or attributes can begin or end a tag or an attribute: every `<` of
 * the content is written `&lt;`, and `&` is `&amp;` where it would otherwise read as such a mark, so that
 * what was written can be told from what was escaped. All else stays as it was sent.
 */
export function frameChannel({
  server,
  content,
  attributes = {},
  summary,
}: Pick<Trigger, 'server' | 'content' | 'attributes' | 'summary'>): string {
  const named = Object.entries(attributes).filter(([name]) => ATTRIBUTE_NAME.test(name) && !isSource(name))
  const written = [['source', server] as const, ...named].map(
    ([name, value]) => `${name}="${escapeValue(value)}"`,
  )
  return `<channel ${written.join(' ')}>${escapeContent(content ?? summary)}</channel>`
}

/** Whether an attribute would pass for the name of the server. */
export function isSource(name: string): boolean {
  return name.toLowerCase() === 'source'
}

/** An `&` that begins what a reader takes for an escaped character. */
const MARK = /&(?=(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi

function escapeContent(text: string): string {
  return text.replace(MARK, '&amp;').replaceAll('<', '&lt;')
}

function escapeValue(text: string): string {
  return escapeContent(text)
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\n\t]/g, ' ')
}

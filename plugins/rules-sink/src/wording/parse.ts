/** What {@link parseRule} answers. */
export type ParsedRule = { readonly condition: string; readonly action: string } | { readonly error: string }

/** Where a condition ends and an action begins: the first of these that the text holds. */
const BORDERS: readonly RegExp[] = [
  /(?:的时候|的時候|时|時)\s*[，,]?\s*(?:执行|執行|就|则|則)\s*/,
  /(?:的时候|的時候)\s*[，,]?\s*|[时時]\s*[，,]\s*/,
  /\s*[，,]\s*(?:则|則|就|执行|執行)\s*|\s+(?:则|則|就)\s+/,
  /\s*,?\s+then\s+/i,
  /\s*,\s*(?=(?:run|execute|do)\s)/i,
  /(?<=^\s*(?:when(?:ever)?|if|once|as\s+soon\s+as)\s[^,，]*|^\s*(?:当|當|如果)[^,，]*)\s*[,，]\s*/i,
  /\s+(?=(?:run|execute)\s)|\s*(?=执行|執行)|[则則]/i,
]

/**
 * A rule in one sentence, split into what must hold and what is then done, in English or Chinese:
 * `when build.done exists, run cargo test`. For where no model reads it.
 */
export function parseRule(text: string): ParsedRule {
  const sentence = text.trim()
  if (sentence === '') return { error: 'usage: /new-trigger <when condition, run action>' }
  const border = BORDERS.map((pattern) => pattern.exec(sentence)).find((found) => found !== null)
  if (!border) {
    return {
      error:
        'could not split the trigger into a condition and action: write `when <condition>, then <action>`, or ask for it in the chat.',
    }
  }
  const condition = sentence
    .slice(0, border.index)
    .replace(/^(?:(?:when(?:ever)?|if|once|as\s+soon\s+as)\s+|当|當|如果)\s*/i, '')
    .replace(/[\s,，]+$/, '')
  const action = sentence
    .slice(border.index + border[0].length)
    .trim()
    .replace(/^(?:(?:run|execute)\s+|执行\s*|執行\s*)/i, '')
  return condition === '' || action === ''
    ? { error: 'condition and action must both be non-empty' }
    : { condition, action }
}

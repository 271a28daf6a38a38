import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../order.ts'

/**
 * Whether the text of a result already says what its structured content says. Servers should mirror it
 * as JSON; the Python SDK wraps what is no object as `{ result }` and puts each item into a block.
 */
export function isMirrored(structured: unknown, texts: readonly string[]): boolean {
  if (texts.some((text) => says(text, structured))) return true
  if (!isRecord(structured) || !Object.hasOwn(structured, 'result') || Object.keys(structured).length !== 1)
    return false
  const { result } = structured
  if (texts.some((text) => says(text, result))) return true
  return (
    Array.isArray(result) &&
    result.length === texts.length &&
    result.every((item, index) => says(texts[index] as string, item))
  )
}

function says(text: string, value: unknown): boolean {
  if (text === value) return true
  const start = text.trimStart()[0]
  // Parsing is for texts that could be this value: an object, a list, or something short.
  if (
    isRecord(value)
      ? start !== '{'
      : Array.isArray(value)
        ? start !== '['
        : text.length > 64 && typeof value !== 'string'
  )
    return false
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}

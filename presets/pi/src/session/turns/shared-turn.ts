import type { ChatMessage } from '@tapline/core'

/** What shares a turn is no longer than this together, in characters; the rest has the next one. */
const LONGEST_TOGETHER = 200_000

/**
 * Takes the next turn from those that wait, in order: the first one, with the texts of all others of its `together`
 * below its own. Nothing is left out: what would be too long waits for the turn after this one.
 */
export function takeTurn(waiting: ChatMessage[]): ChatMessage | undefined {
  const first = waiting.shift()
  if (first?.together === undefined) return first
  const texts = [first.text]
  let length = first.text.length
  let full = false
  const left = waiting.filter((message) => {
    full ||= message.together === first.together && length + message.text.length > LONGEST_TOGETHER
    if (message.together !== first.together || full) return true
    texts.push(message.text)
    length += message.text.length
    return false
  })
  waiting.splice(0, waiting.length, ...left)
  return { ...first, text: texts.join('\n') }
}

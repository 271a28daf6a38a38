/** A rule as one sentence says it. */
export interface SaidRule {
  readonly condition: string
  readonly action: string
  /** False where it says `whenever` or `every time`. */
  readonly fireOnce: boolean
  /** True where the action is to tell somebody: nobody would hear of it otherwise. */
  readonly promoteToChat: boolean
  /** Whether its words leave no doubt where the condition ends. Somebody who reads should look at others. */
  readonly clear: boolean
}

/** What {@link parseRule} answers. */
export type ParsedRule = SaidRule | { readonly error: string }

const OPENING =
  /^(?:(?:when(?:ever)?|if|once|as\s+soon\s+as|(?:every|each)\s+time(?:\s+(?:that|when))?)\s+|[当當]|如果|每[当當次])\s*/i
const EVERY_TIME = /^(?:whenever|(?:every|each)\s+time)\s|^每[当當次]/i
const TELLS =
  /\b(?:tell|notify|inform|warn|alert|remind|message|ping|let)\s+(?:me|us)\b|\b(?:say|show|print|report|summari[sz]e|explain)\b|告[诉訴]|通知|提醒|[报報]告|[汇匯][报報]|打印|[显顯]示|[说說]/i

/** Words that end a condition: the first of these that the text holds. */
const BORDERS: readonly RegExp[] = [
  /(?:的时候|的時候|时|時)\s*[，,]?\s*(?:执行|執行|就|则|則)\s*/,
  /(?:的时候|的時候)\s*[，,]?\s*|[时時]\s*[，,]\s*/,
  /\s*[，,]\s*(?:则|則|就|执行|執行)\s*|\s+(?:则|則|就)\s+/,
  /\s*,?\s+then\s+/i,
  /\s*,\s*(?=(?:run|execute|do)\s)/i,
]
/** A guess. */
const LOOSE_BORDER = /\s+(?=(?:run|execute)\s)|\s*(?=执行|執行)|[则則]/i

/**
 * A rule in one sentence, split into what must hold and what is then done, in English or Chinese:
 * `when build.done exists, run cargo test`. For where no model reads it.
 */
export function parseRule(text: string): ParsedRule {
  const sentence = text.trim()
  if (sentence === '') return { error: 'usage: /new-trigger <when condition, run action>' }
  const border = borderOf(sentence)
  if (!border) {
    return {
      error:
        'could not split the trigger into a condition and action: write `when <condition>, then <action>`, or ask for it in the chat.',
    }
  }
  const condition = sentence
    .slice(0, border.from)
    .replace(OPENING, '')
    .replace(/[\s,，]+$/, '')
  const action = sentence
    .slice(border.to)
    .trim()
    .replace(/^(?:(?:run|execute)\s+|执行\s*|執行\s*)/i, '')
  if (condition === '' || action === '') return { error: 'condition and action must both be non-empty' }
  const [fireOnce, promoteToChat] = [!EVERY_TIME.test(sentence), TELLS.test(action)]
  return { condition, action, fireOnce, promoteToChat, clear: border.clear }
}

interface Border {
  readonly from: number
  readonly to: number
  readonly clear: boolean
}

/** Looked for outside of what is quoted. */
function borderOf(sentence: string): Border | undefined {
  const bare = sentence.replace(QUOTED, (quoted) => '.'.repeat(quoted.length))
  for (const pattern of BORDERS) {
    const found = pattern.exec(bare)
    if (found) return { from: found.index, to: found.index + found[0].length, clear: true }
  }
  if (OPENING.test(bare)) {
    const [comma, ...further] = [...bare.matchAll(COMMA)].map(({ index }) => index)
    if (comma !== undefined) return { from: comma, to: comma + 1, clear: further.length === 0 }
  }
  const loose = LOOSE_BORDER.exec(bare)
  return loose ? { from: loose.index, to: loose.index + loose[0].length, clear: false } : undefined
}

const QUOTED = /"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|「[^」\n]*」/g
/** One that stands in no number. */
const COMMA = /(?<!\d),|,(?!\d)|，/g

/** Longer texts belong into a file that the rule names. */
const LONGEST = 8_000

/**
 * Why a rule is refused, as a sentence; nothing when it is fine. Rules wait for something to be true; what is asked for
 * at a fixed time belongs to `/cron add`. Judged by words and phrases: names of files and what is quoted do not count.
 */
export function checkRule(rule: { readonly condition: string; readonly action: string }): string | undefined {
  const { condition, action } = rule
  if (condition.trim() === '' || action.trim() === '') return 'condition and action must both be non-empty'
  if (condition.length > LONGEST || action.length > LONGEST)
    return `A condition and an action may have ${LONGEST} characters each: put what is longer into a file and name it.`
  const schedule = scheduleIn(condition) ?? scheduleIn(action) ?? clockTime(condition)
  return schedule === undefined
    ? undefined
    : `"${schedule}" is a fixed time, and rules wait for conditions: fixed scheduled jobs must use /cron add, not a trigger.`
}

const UNIT =
  '(?:seconds?|minutes?|hours?|days?|nights?|mornings?|afternoons?|evenings?|noon|midnight|weeks?|weekdays?|weekends?|months?|quarters?|years?)'
const DAY = '(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)'
const COUNT = '(?:\\d+|other|second|third|two|three|four|five|six|ten|fifteen|twenty|thirty|few|single)'
/** Where a word of its own begins and ends: not within a name of a file, a path or an option. */
const BEGIN = '(?<![\\w./\\\\@-])'
const END = '(?![\\w/\\\\@-]|\\.\\w)'
const CLOCK =
  "(?:\\d{1,2}(?::\\d{2}){1,2}(?:\\s?[ap]\\.?m\\.?)?|\\d{1,2}\\s?(?:[ap]\\.?m\\.?|o['’]?clock)|noon|midnight)"

const PHRASES: readonly RegExp[] = [
  new RegExp(`${BEGIN}(?:every|each)\\s+(?:${COUNT}\\s+)?(?:${UNIT}|${DAY})${END}`, 'i'),
  new RegExp(`${BEGIN}(?:once|twice|\\w+\\s+times)\\s+(?:an?|per|every|each)\\s+${UNIT}${END}`, 'i'),
  new RegExp(`${BEGIN}on\\s+(?:weekdays|weekends|(?:mon|tues|wednes|thurs|fri|satur|sun)days)${END}`, 'i'),
  new RegExp(
    `${BEGIN}(?:a|as|via|with|by|using)\\s+(?:a\\s+)?(?:scheduled|cron|recurring)\\s+(?:job|task|run|schedule|expression)s?${END}`,
    'i',
  ),
  new RegExp(
    `${BEGIN}(?<!\\b(?:the|this|that|our|my|your|its|their)\\s+)(?:scheduled\\s+(?:jobs?|tasks?)|cron(?:tab)?)${END}`,
    'i',
  ),
  /(?<![\w*/])(?=[\d,/\s-]*\*)(?:[*\d,/-]+\s+){4}[*\d,/-]+(?![\w*])/,
  /(?<!\w)@(?:hourly|daily|weekly|monthly|yearly|annually|midnight|reboot)\b/i,
  /定[时時](?:任[务務]|作业|作業|执行|執行|运行|運行)?|每[一两兩二三四五六七八九十\d\s]*[个個]?(?:半)?(?:秒|分[钟鐘]?|小[时時]|[钟鐘][头頭]|天|日|晚|早|[周週]|星期|礼拜|禮拜|月|年|季度)|每隔/,
]

/** Words that say how often when they stand for themselves, and of what kind a thing is when one follows. */
const OFTEN = new RegExp(
  `${BEGIN}(?:hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually)${END}`,
  'gi',
)
/** What may follow one that says how often. */
const GOES_ON =
  /^\s*(?:$|[,.;:!?)，。；：]|(?:at|on|in|by|around|from|before|after|between|until|and|or|then|to|run|runs|execute|check|send|do|print|show|remind)\b)/i
const NAMED = /\b(?:the|a|an|this|that|our|my|your|its|their|any|each|\w+['’]s)\s+(?:\w+\s+){0,2}$/i

/** The first phrase that asks for a fixed time. */
function scheduleIn(text: string): string | undefined {
  const prose = withoutNames(text)
  for (const phrase of PHRASES) {
    const found = phrase.exec(prose)
    if (found) return found[0].trim()
  }
  for (const found of prose.matchAll(OFTEN)) {
    const before = prose.slice(0, found.index)
    const after = prose.slice(found.index + found[0].length)
    if (GOES_ON.test(after) && !(NAMED.test(before) && /^\s+\w/.test(after))) return found[0]
  }
  return undefined
}

/** A condition that is nothing but a time. */
function clockTime(condition: string): string | undefined {
  const only = new RegExp(
    `^\\s*(?:when|if|once|whenever)?\\s*((?:it\\s+is|it['’]s|the\\s+time\\s+is|at|after|past)\\s+(?:at\\s+|past\\s+|after\\s+)?${CLOCK}|in\\s+${COUNT}\\s+${UNIT}|tomorrow|tonight)\\s*[.,]?\\s*$`,
    'i',
  )
  return only.exec(condition)?.[1]?.trim()
}

/** Without what is quoted and without names of files, in which such words mean nothing. */
function withoutNames(text: string): string {
  return text
    .replace(/"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|(?<!\w)'[^'\n]*'(?!\w)/g, ' … ')
    .replace(/(?:[\w-]+|\p{Script=Han}+)\.[a-z]\w{0,7}\b/giu, ' … ')
}

import { wrap } from '../screen/columns.ts'

/** Words of others, marked as such in every line: they cannot pass for Tapline's own. */
export function theirs(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => `  │ ${line}`)
}

/** One of several things that a question is about, on one line: what of it is broken stands below where it began. */
export function item(text: string): string {
  return `  - ${text}`
}

/** A line in lines of at most so many columns. Words of others keep their mark, or stay behind where they began. */
export function inColumns(text: string, columns: number, most = Infinity): readonly string[] {
  const [, mark = '', words = ''] = /^( {2}(?:│|-|\d+\.|…) |)(.*)$/s.exec(text) ?? []
  const later = mark.includes('│') ? mark : ' '.repeat(mark.length)
  return wrap(words, Math.max(2, columns - mark.length), most).map(
    (part, n) => (n === 0 ? mark : later) + part,
  )
}

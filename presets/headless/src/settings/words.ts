import leven from 'leven'

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu

/** A value as JSON, whole, with control, bidi and other invisible characters spelled out. */
export function quoted(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').replace(
    HIDDEN,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** Like {@link quoted}, but plain words and paths stand as they are. */
export function word(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : quoted(text)
}

/** ` Did you mean "x"?` with the known name that `name` was probably meant to be, else nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = name.slice(0, 64).toLowerCase()
  let best: string | undefined
  // One slip in a short name, two in others: letters that changed places are two.
  let least = meant.length < 4 ? 2 : 3
  for (const candidate of known) {
    const distance = leven(meant, candidate.toLowerCase())
    if (distance >= least) continue
    least = distance
    best = candidate
  }
  return best === undefined ? '' : ` Did you mean ${quoted(best)}?`
}

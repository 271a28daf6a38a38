import leven from 'leven'

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** A name from a file as a diagnostic may show it: bounded, without control, bidi or invisible characters. */
export function shown(name: string): string {
  const clean = name.slice(0, 200).replace(HIDDEN, '?')
  return clean.length > 60 ? `${clean.slice(0, 59)}…` : clean
}

/** What other clients call a field, and what it is here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  disabled: 'enabled',
  endpoint: 'url',
  environment: 'env',
  httpurl: 'url',
  inputs: 'mcpServers',
  serverurl: 'url',
  servers: 'mcpServers',
  transport: 'type',
  transporttype: 'type',
}

/** The known name that `name` was probably meant to be. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = folded(name)
  const meant = Object.hasOwn(ELSEWHERE, plain) ? ELSEWHERE[plain] : undefined
  if (meant !== undefined && known.includes(meant)) return meant
  let best: string | undefined
  let least = Math.min(3, Math.floor(plain.length / 3)) + 1
  for (const candidate of known) {
    const distance = leven(plain, folded(candidate))
    if (distance >= least) continue
    least = distance
    best = candidate
  }
  return best
}

/** `tool_exposure`, `ToolExposure` and `toolExposure` are one word to a person. */
function folded(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '')
}

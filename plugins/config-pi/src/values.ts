type Env = Readonly<Record<string, string | undefined>>

/** A value with its variables filled in, or the names of those that are not set. */
export type Filled = { readonly value: string } | { readonly missing: readonly string[] }

/**
 * `$NAME`, `${NAME}`, `$$` and `$!` as pi resolves them, and beyond it `${NAME:-default}` and
 * `${env:NAME}`, which pi would pass on as they stand. An empty variable counts as not set.
 */
export function fillValue(text: string, env: Env): Filled {
  return fill(text, /\$([$!]|\{[^}]*\}|[A-Za-z_]\w*)/g, env)
}

/** Only the forms in braces: a plain `$` is an ordinary character in an address. */
export function fillUrl(text: string, env: Env): Filled {
  return fill(text, /\$(\{[^}]*\})/g, env)
}

const BRACED = /^\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}$/

function fill(text: string, references: RegExp, env: Env): Filled {
  const missing = new Set<string>()
  const value = text.replaceAll(references, (all: string, reference: string) => {
    if (reference === '$' || reference === '!') return reference
    const [, name, fallback] = reference.startsWith('{')
      ? (BRACED.exec(reference) ?? [])
      : [reference, reference]
    if (name === undefined) return all
    const found = (Object.hasOwn(env, name) ? env[name] : undefined) || fallback
    if (found === undefined) missing.add(name)
    return found ?? ''
  })
  return missing.size === 0 ? { value } : { missing: [...missing] }
}

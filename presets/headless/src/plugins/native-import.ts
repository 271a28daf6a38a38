import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Imports a file as it is now: the same path with other content is loaded anew, also in a process that lives long.
 * Refused when its bytes are not those of the hash that somebody said yes to.
 */
export async function importFile(path: string, approved?: string): Promise<object> {
  const digest = sha256(readFileSync(path))
  const refuse = (found: string): void => {
    if (approved !== undefined && found !== approved) throw new Error(`${path} is not what was approved`)
  }
  refuse(digest)
  const { href } = pathToFileURL(path)
  const url = `${href}?${digest.slice(0, 16)}`
  const hooks = registerHooks({
    load: (loaded, context, next) => {
      if (loaded !== url) return next(loaded, context)
      // Without a package.json nearby Node would find out by itself that this is a module, and warn about that.
      const module = next(
        loaded,
        path.endsWith('.ts') ? { ...context, format: 'module-typescript' } : context,
      )
      // What runs is looked at, not what was there a moment before.
      if (typeof module.source === 'string' || module.source instanceof Uint8Array)
        refuse(sha256(module.source))
      return module
    },
  })
  try {
    return (await import(url)) as object
  } finally {
    hooks.deregister()
  }
}

/** The hash that an approval of a file is tied to. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Imports a package as a file at `from` would: by the conditions of `import`, which `require.resolve` does not know. */
export async function importPackage(name: string, from: string): Promise<object> {
  const request = `tapline:${encodeURIComponent(from)}:${name}`
  const parentURL = pathToFileURL(from).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === request ? next(name, { ...context, parentURL }) : next(specifier, context),
  })
  try {
    return (await import(request)) as object
  } finally {
    hooks.deregister()
  }
}

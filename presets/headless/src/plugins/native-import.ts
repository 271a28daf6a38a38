import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Imports a file as it is now: the same path with other content is loaded anew, also in a process that lives long. */
export async function importFile(path: string): Promise<object> {
  const content = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)
  const { href } = pathToFileURL(path)
  const url = `${href}?${content}`
  if (!path.endsWith('.ts')) return (await import(url)) as object
  // Without a package.json nearby Node would find out by itself that this is a module, and warn about that.
  const hooks = registerHooks({
    load: (loaded, context, next) =>
      next(loaded, loaded === url ? { ...context, format: 'module-typescript' } : context),
  })
  try {
    return (await import(url)) as object
  } finally {
    hooks.deregister()
  }
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

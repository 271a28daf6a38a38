import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, type Diagnostic } from '@tapline/core'
import type { NamedPlugin } from '../settings/settings.ts'

/** Loads the plugins that settings files name: packages installed beside the file, or paths relative to it. */
export async function loadNamedPlugins(
  named: readonly NamedPlugin[],
  agentDir: string,
): Promise<{ readonly plugins: readonly unknown[]; readonly diagnostics: readonly Diagnostic[] }> {
  const plugins: unknown[] = []
  const diagnostics: Diagnostic[] = []
  for (const { name, from } of named) {
    try {
      const module = (await import(pathToFileURL(locate(name, from, agentDir)).href)) as { default?: unknown }
      const exported = module.default
      plugins.push(typeof exported === 'function' ? (exported as () => unknown)() : exported)
    } catch (thrown) {
      diagnostics.push({
        severity: 'error',
        message: `plugin "${name}" of ${from} could not be loaded: ${messageOf(thrown).split('\n')[0]} Install it there, or take it out of "plugins".`,
        path: from,
      })
    }
  }
  return { plugins, diagnostics }
}

function locate(name: string, from: string, agentDir: string): string {
  if (name.startsWith('.') || isAbsolute(name)) {
    const path = resolve(dirname(from), name)
    if (!existsSync(path)) throw new Error(`${path} does not exist.`)
    return path
  }
  // pi installs packages into <agent dir>/npm.
  for (const base of [from, resolve(agentDir, 'npm', 'package.json')]) {
    try {
      return createRequire(base).resolve(name)
    } catch {
      // The next place may have it.
    }
  }
  throw new Error(`the package is not installed beside ${dirname(from)} or in ${resolve(agentDir, 'npm')}.`)
}

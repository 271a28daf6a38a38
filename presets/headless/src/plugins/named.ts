import { existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '@tapline/core'
import type { Diagnostic } from '@tapline/core'
import type { NamedPlugin } from '../settings/settings.ts'
import { importFile, importPackage } from './native-import.ts'
import { pluginFile } from './path.ts'

/** Loads the plugins that settings files name: packages installed beside the file, or paths relative to it. */
export async function loadNamedPlugins(
  named: readonly NamedPlugin[],
  agentDir: string,
): Promise<{ readonly plugins: readonly unknown[]; readonly diagnostics: readonly Diagnostic[] }> {
  const plugins: unknown[] = []
  const diagnostics: Diagnostic[] = []
  for (const { name, from, approved } of named) {
    try {
      plugins.push(...pluginsOf(await load(name, from, agentDir, approved)))
    } catch (thrown) {
      const reason = messageOf(thrown).split('\n')[0]!.replace(/\.?$/, '.')
      diagnostics.push({
        severity: 'error',
        message: `plugin "${name}" of ${from} could not be loaded: ${reason} Put that right, or take it out of "plugins".`,
        path: from,
      })
    }
  }
  return { plugins, diagnostics }
}

async function load(name: string, from: string, agentDir: string, approved?: string): Promise<object> {
  const path = pluginFile(name, from)
  if (path !== undefined) {
    if (!existsSync(path)) throw new Error(`${path} does not exist`)
    return importFile(path, approved)
  }
  // pi installs packages into <agent dir>/npm.
  const places = [from, resolve(agentDir, 'npm', 'package.json')]
  const place = places.find((base) => isInstalled(name, base))
  if (place === undefined) {
    throw new Error(
      `the package is installed neither beside ${dirname(from)} nor in ${resolve(agentDir, 'npm')}`,
    )
  }
  return importPackage(name, place)
}

function isInstalled(name: string, base: string): boolean {
  try {
    return findPackageJSON(name, pathToFileURL(base)) !== undefined
  } catch {
    return false
  }
}

/** The plugins among a module's exports, else what its default export gives when it is called without options. */
function pluginsOf(module: object): readonly unknown[] {
  const exported = Object.values(module)
  const ready = [...new Set(exported.filter(isPlugin))]
  if (ready.length > 0) return ready
  const factory = 'default' in module ? module.default : exported.length === 1 ? exported[0] : undefined
  const made: unknown = typeof factory === 'function' ? (factory as () => unknown)() : undefined
  if (!isPlugin(made)) {
    throw new Error('it exports no plugin, which is an object with "name", "api" and "setup"')
  }
  return [made]
}

function isPlugin(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'name' in value && 'setup' in value
}

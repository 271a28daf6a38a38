import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The file that a plugin's name in the settings file `from` means; undefined for a package. */
export function pluginFile(name: string, from: string): string | undefined {
  if (/^\s*file:/i.test(name)) return fileOf(name) ?? resolve(dirname(from), name)
  return name.startsWith('.') || isAbsolute(name) ? resolve(dirname(from), name) : undefined
}

function fileOf(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

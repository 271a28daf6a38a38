import { readFileSync } from 'node:fs'
import { sha256 } from '../plugins/native-import.ts'
import { pluginFile } from '../plugins/path.ts'
import type { SettingsFile } from './settings.ts'

/** A plugin that is a file: its code belongs to what a person says yes to. */
export interface PluginFile {
  readonly name: string
  readonly path: string
  /** Of its bytes; absent when it could not be read. */
  readonly sha256?: string
}

/** The files that a settings file names as plugins, as they are now. */
export function pluginFilesOf({ plugins = [] }: SettingsFile, from: string): readonly PluginFile[] {
  return [...new Set(plugins)].flatMap((name) => {
    const path = pluginFile(name, from)
    return path === undefined ? [] : [{ name, path, ...hashOf(path) }]
  })
}

/** What a yes is tied to: the text of the settings file, and the plugin files that it names. */
export function approvedContent(text: string, files: readonly PluginFile[]): string {
  if (files.length === 0) return text
  // No format of settings allows a NUL, so no text can pretend to end like this.
  return `${text}\0${JSON.stringify(files.map(({ name, path, sha256: hash }) => [name, path, hash ?? null]))}`
}

function hashOf(path: string): { readonly sha256?: string } {
  try {
    return { sha256: sha256(readFileSync(path)) }
  } catch {
    return {}
  }
}

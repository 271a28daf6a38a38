import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser'
import lockfile from 'proper-lockfile'
import { writeAtomically } from './json-file.ts'

/** The entry that keeps pi's built-in MCP support out of sessions. */
export const SILENCE = '-builtin:mcp'

/** Whether pi's settings already silence its built-in MCP support. */
export function isBuiltInSilenced(agentDir: string): boolean {
  return extensionsOf(readText(join(agentDir, 'settings.json'))).includes(SILENCE)
}

/** Adds or removes `-builtin:mcp` in pi's settings and leaves the rest as it is. Answers whether anything changed. */
export async function setBuiltInSilenced(agentDir: string, silenced: boolean): Promise<boolean> {
  const path = join(agentDir, 'settings.json')
  const release = await lockfile.lock(path, { realpath: false, retries: { retries: 20, minTimeout: 20, maxTimeout: 200 } })
  try {
    const text = readText(path)
    const extensions = extensionsOf(text)
    if (extensions.includes(SILENCE) === silenced) return false
    const next = silenced ? [...extensions, SILENCE] : extensions.filter((entry) => entry !== SILENCE)
    const value = next.length === 0 ? undefined : next
    const edits = modify(text === '' ? '{}' : text, ['extensions'], value, {
      formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' },
    })
    writeAtomically(path, applyEdits(text === '' ? '{}' : text, edits))
    return true
  } finally {
    await release()
  }
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/^\uFEFF/, '') : ''
}

function extensionsOf(text: string): string[] {
  const errors: ParseError[] = []
  const settings = parse(text === '' ? '{}' : text, errors) as { extensions?: unknown } | undefined
  if (errors.length > 0) throw new Error('pi’s settings.json is not valid JSON; fix it first.')
  return Array.isArray(settings?.extensions) ? settings.extensions.filter((entry) => typeof entry === 'string') : []
}

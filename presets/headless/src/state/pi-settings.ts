import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'jsonc-parser'
import type { ParseError } from 'jsonc-parser'
import { withLock, writeAtomically } from '@tapline/core'
import { withValue } from '../changes/json-text.ts'

/** The entry that keeps pi's built-in MCP support out of sessions. */
export const SILENCE = '-builtin:mcp'

/** Whether pi's settings already silence its built-in MCP support. */
export function isBuiltInSilenced(agentDir: string): boolean {
  return extensionsOf(readText(join(agentDir, 'settings.json'))).includes(SILENCE)
}

/** Adds or removes `-builtin:mcp` in pi's settings and leaves the rest as it is. Answers whether anything changed. */
export async function setBuiltInSilenced(agentDir: string, silenced: boolean): Promise<boolean> {
  const path = join(agentDir, 'settings.json')
  // The lock stands beside the file, and needs its directory.
  if (!existsSync(agentDir) && !silenced) return false
  return withLock(path, () => {
    const text = readText(path)
    if (extensionsOf(text).includes(SILENCE) === silenced) return false
    writeAtomically(path, silenced ? withSilence(text) : withoutSilence(text))
    return true
  })
}

function withSilence(text: string): string {
  const present = extensionsOf(text)
  return present.length === 0
    ? edited(text, ['extensions'], [SILENCE])
    : edited(text, ['extensions', present.length], SILENCE)
}

function withoutSilence(text: string): string {
  const extensions = extensionsOf(text)
  if (extensions.every((entry) => entry === SILENCE)) return edited(text, ['extensions'], undefined)
  return extensions.reduceRight<string>(
    (rest, entry, index) => (entry === SILENCE ? edited(rest, ['extensions', index], undefined) : rest),
    text,
  )
}

function edited(text: string, path: (string | number)[], value: unknown): string {
  const [bom, body] = text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
  const json = body.trim() === '' ? '{}\n' : body
  return bom + withValue(json, path, value)
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function extensionsOf(text: string): readonly unknown[] {
  const body = text.replace(/^\uFEFF/, '')
  const errors: ParseError[] = []
  const settings: unknown = parse(body.trim() === '' ? '{}' : body, errors, { allowTrailingComma: true })
  if (errors.length > 0 || typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw new Error('pi’s settings.json is not a valid JSON object; fix it first.')
  }
  const { extensions } = settings as { extensions?: unknown }
  return Array.isArray(extensions) ? extensions : []
}

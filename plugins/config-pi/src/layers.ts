import { existsSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { ConfigContext, Diagnostic, ServerSource, ServerSpec } from '@tapline/core'
import { parseDocument } from './document.ts'
import type { Document } from './document.ts'
import { isOverride, keyOf, readEntry } from './entry.ts'
import type { EntryOrigin } from './entry.ts'
import { type Fields, isFields } from './fields.ts'
import { readText } from './file.ts'
import { loadSchema } from './schema.ts'
import type { Schema } from './schema.ts'
import { createVoice } from './voice.ts'
import type { Voice } from './voice.ts'
import { nearest, shown } from './words.ts'

/** What the files of a session give together. */
export interface Layers {
  readonly servers: readonly ServerSpec[]
  readonly diagnostics: readonly Diagnostic[]
  readonly autoEnableCodemode?: boolean
}

/** Reads the user's file, then the trusted project's over it. */
export async function readLayers(context: ConfigContext): Promise<Layers> {
  const user = join(context.agentDir, 'mcp.json')
  const project = join(context.cwd, '.pi', 'mcp.json')
  const diagnostics: Diagnostic[] = []
  const entries: Entries = new Map()
  let autoEnableCodemode: boolean | undefined
  for (const [scope, path] of [
    ['user', user],
    ['project', project],
  ] as const) {
    if (scope === 'project' && resolve(project) === resolve(user)) continue
    if (scope === 'project' && !context.projectTrusted) {
      if (existsSync(path)) diagnostics.push(notTrusted(path))
      continue
    }
    const layer = await openLayer(scope, path, diagnostics)
    if (!layer) continue
    autoEnableCodemode = layer.autoEnableCodemode ?? autoEnableCodemode
    for (const [name, raw] of Object.entries(layer.servers)) readServer(name, raw, layer, entries, context)
  }
  const servers = [...entries.values()].map(({ spec }) => spec)
  return { servers, diagnostics, ...(autoEnableCodemode === undefined ? {} : { autoEnableCodemode }) }
}

function notTrusted(path: string): Diagnostic {
  return {
    severity: 'info',
    message: `project MCP config ignored at ${path}: the project is not trusted`,
    path,
  }
}

/** A server with the fields it was read from, which a project's override changes. */
interface Entry {
  readonly raw: Fields
  readonly spec: ServerSpec
}

/** Keyed by their names with `-` as `_`: names that differ only in that are one server. */
type Entries = Map<string, Entry>

/** One file. */
interface Layer {
  readonly scope: 'user' | 'project'
  readonly path: string
  readonly document: Document
  readonly schema: Schema
  readonly voice: Voice
  readonly servers: Fields
  readonly autoEnableCodemode?: boolean
}

async function openLayer(
  scope: Layer['scope'],
  path: string,
  diagnostics: Diagnostic[],
): Promise<Layer | undefined> {
  const file = await readText(path)
  if (file.kind === 'missing') return undefined
  const document = file.kind === 'text' ? parseDocument(file.text) : file
  if ('problem' in document) {
    createVoice(diagnostics, path).file('error', document.problem, document.line)
    return undefined
  }
  const { value } = document
  const voice = createVoice(diagnostics, path, document)
  const servers = isFields(value) ? (value.mcpServers ?? {}) : undefined
  if (!isFields(value) || !isFields(servers) || value.mcpServers === null) {
    voice.file(
      'error',
      'expected an object with an "mcpServers" object',
      document.lineOfKey('mcpServers') ?? 1,
    )
    return undefined
  }
  const schema = await loadSchema()
  for (const key of Object.keys(value).filter((name) => !schema.topLevel.includes(name))) {
    voice.file(
      'warning',
      `unknown key "${shown(key)}" is ignored${hintOf(nearest(key, schema.topLevel))}`,
      document.lineOfKey(key),
    )
  }
  for (const name of document.repeated) {
    voice.warn(name, {
      message: 'the name stands more than once in the file; the last entry counts',
      field: [],
    })
  }
  const { autoEnableCodemode } = value
  if (autoEnableCodemode !== undefined && typeof autoEnableCodemode !== 'boolean') {
    voice.file('error', 'autoEnableCodemode must be a boolean', document.lineOfKey('autoEnableCodemode'))
  }
  const layer = { scope, path, document, schema, voice, servers }
  return typeof autoEnableCodemode === 'boolean' ? { ...layer, autoEnableCodemode } : layer
}

function readServer(
  name: string,
  raw: unknown,
  layer: Layer,
  entries: Entries,
  context: ConfigContext,
): void {
  const { voice, scope, path, document, schema } = layer
  const holder = entries.get(keyOf(name))
  const line = document.lineOf(name)
  const source: ServerSource = {
    label: labelOf(path, context.home),
    scope,
    path,
    ...(line === undefined ? {} : { line }),
  }
  const origin: EntryOrigin = { dialect: 'mcp.json', source, cwd: context.cwd, home: context.home, schema }
  if (scope === 'project' && isFields(raw) && isOverride(raw))
    return override(name, raw, layer, entries, origin)

  const { spec, errors, warnings } = readEntry(name, raw, origin)
  const kept = holder?.spec.name === name ? `; the entry of ${holder.spec.source.label} stays active` : ''
  for (const warning of warnings) voice.warn(name, warning)
  if (!spec) return voice.fail(name, errors, kept)
  if (holder && holder.spec.name !== name) {
    return voice.fail(name, [{ message: `server "${name}" conflicts with "${holder.spec.name}"`, field: [] }])
  }
  // A repository must not pick where a credential goes. As pi, which looks no closer at what kind of entry it is.
  if (scope === 'project' && isFields(raw) && Object.hasOwn(raw, 'url') && Boolean(raw.auth)) {
    return voice.fail(
      name,
      [{ message: 'auth is only allowed in the global mcp.json', field: ['auth'] }],
      kept,
    )
  }
  entries.set(keyOf(name), { raw: raw as Fields, spec })
}

const OVERRIDABLE = ['enabled', 'exposure', 'toolExposure']

/** Changes a few fields of a user-level server for one project and keeps the rest, credentials included. */
function override(
  name: string,
  raw: Fields,
  { voice, path }: Layer,
  entries: Entries,
  origin: EntryOrigin,
): void {
  const base = entries.get(keyOf(name))
  if (base?.spec.name !== name) {
    const hint = hintOf(
      base?.spec.name ??
        nearest(
          name,
          [...entries.values()].map(({ spec }) => spec.name),
        ),
    )
    return voice.fail(name, [
      { message: `it needs "command" or "url", or a global server to override${hint}`, field: [] },
    ])
  }
  const kept = `; the entry of ${base.spec.source.label} stays as it is`
  const further = Object.keys(raw).filter((key) => !OVERRIDABLE.includes(key))
  if (further[0] !== undefined) {
    const also = further.map((key) => `"${shown(key)}"`).join(', ')
    const message = `an override can only set ${OVERRIDABLE.join(', ')}, not ${also}`
    return voice.fail(name, [{ message, field: [further[0]] }], kept)
  }
  const merged = { ...base.raw, ...raw }
  const { spec, errors } = readEntry(name, merged, {
    ...origin,
    source: { ...base.spec.source, override: path },
  })
  if (spec) entries.set(keyOf(name), { raw: merged, spec })
  else voice.fail(name, errors, kept)
}

function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

function labelOf(path: string, home: string): string {
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

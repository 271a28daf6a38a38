import { resolve, sep } from 'node:path'
import type { ConfigContext, Diagnostic, ServerSource, ServerSpec, TrustQuestion } from '@tapline/core'
import { parseDocument } from './document.ts'
import type { Document } from './document.ts'
import { readEntry } from './entry.ts'
import { factsOf } from './facts.ts'
import { filesOf, readText } from './file.ts'
import { loadSchema } from './schema.ts'
import { nearest, shown } from './words.ts'

/** What the files of a session give together. */
export interface Layers {
  readonly servers: readonly ServerSpec[]
  readonly diagnostics: readonly Diagnostic[]
  readonly questions: readonly TrustQuestion[]
}

/** One of the two files. */
interface Layer {
  readonly scope: 'user' | 'project'
  readonly path: string
  readonly context: ConfigContext
}

/** What has been read so far. Servers are keyed by their names with `-` as `_`. */
interface Book {
  readonly servers: Map<string, ServerSpec>
  readonly diagnostics: Diagnostic[]
  readonly questions: TrustQuestion[]
}

/** Reads the user's file, then the project's over it once a person has said yes to its content. */
export async function readLayers(context: ConfigContext): Promise<Layers> {
  const { user, project } = filesOf(context)
  const book: Book = { servers: new Map(), diagnostics: [], questions: [] }
  await readLayer({ scope: 'user', path: user, context }, book)
  if (resolve(project) !== resolve(user)) await readLayer({ scope: 'project', path: project, context }, book)
  return { ...book, servers: [...book.servers.values()] }
}

/** A server's name as it is compared: `-` counts as `_`. */
export function keyOf(name: string): string {
  return name.replaceAll('-', '_')
}

async function readLayer(layer: Layer, book: Book): Promise<void> {
  const { scope, path } = layer
  const say = (severity: Diagnostic['severity'], message: string, line?: number): void => {
    book.diagnostics.push({ severity, message, path, ...(line === undefined ? {} : { line }) })
  }
  const file = await readText(path)
  if (file.kind === 'missing') return
  if (file.kind === 'problem')
    return say('error', `mcp config (${scope}, ${path}): read failed: ${file.problem}`, file.line)
  const document = parseDocument(file.text)
  const answer = scope === 'user' ? true : answerAbout(layer, file.text, document, book)
  if ('problem' in document) {
    // What cannot be read cannot be asked about either.
    if (answer)
      return say('error', `mcp config (${scope}, ${path}): parse failed: ${document.problem}`, document.line)
    return say(
      'warning',
      `project MCP config ignored at ${path}: parse failed: ${document.problem}`,
      document.line,
    )
  }
  if (!answer) {
    const advice =
      answer === false
        ? 'you said no; you are asked again when the file changes, and --approve uses it once'
        : 'say yes when you are asked about it, or start with --approve'
    return say('warning', `project MCP config ignored at ${path}: project is not trusted (${advice})`)
  }
  await readDocument(layer, document, book, say)
}

/** Whether a project's file may be used. Where nobody was asked, the question is added to the book. */
function answerAbout(
  { path, context }: Layer,
  content: string,
  document: Document | { problem: string },
  book: Book,
): boolean | undefined {
  const directory = context.cwd
  const answer = answerOf(context, path, directory, content)
  if (answer !== undefined || 'problem' in document) return answer
  const facts = factsOf(document.value)
  // A file that starts nothing and reaches nothing needs no yes.
  if (facts.length === 0) return true
  book.questions.push({ path, directory, content, facts })
  return undefined
}

function answerOf(
  context: ConfigContext,
  path: string,
  directory: string,
  content: string,
): boolean | undefined {
  try {
    const answer: unknown = context.trustOf(path, directory, content)
    return answer === undefined ? undefined : answer === true
  } catch {
    return false
  }
}

type Say = (severity: Diagnostic['severity'], message: string, line?: number) => void

async function readDocument(layer: Layer, document: Document, book: Book, say: Say): Promise<void> {
  const { scope, path } = layer
  const { value } = document
  if (Object.keys(value).length === 0) return
  const schema = await loadSchema()
  const place = `mcp config (${scope}, ${path})`
  for (const key of Object.keys(value).filter((name) => !schema.topLevel.includes(name))) {
    const meant = nearest(key, schema.topLevel)
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    say('warning', `${place}: unknown key "${shown(key)}" is ignored${hint}`)
  }
  if (value.danger !== undefined && scope === 'project') {
    say(
      'warning',
      `${place}: [danger] is ignored: a project cannot exempt itself; move it to your own mcp.toml or config.toml`,
    )
  }
  const { server: entries = [] } = value
  if (!Array.isArray(entries))
    return say('error', `${place}: server must be written as [[server]], once for each server`)
  entries.forEach((raw: unknown, index) => readServer(raw, index, layer, document, book, schema))
}

function readServer(
  raw: unknown,
  index: number,
  layer: Layer,
  document: Document,
  book: Book,
  schema: Awaited<ReturnType<typeof loadSchema>>,
): void {
  const { scope, path, context } = layer
  const line = document.lineOf(index)
  const place = { path, ...(line === undefined ? {} : { line }) }
  const source: ServerSource & { scope: typeof scope } = {
    label: labelOf(path, context.home),
    scope,
    ...place,
  }
  const { name, spec, errors, warnings } = readEntry(index + 1, raw, {
    source,
    cwd: context.cwd,
    home: context.home,
    schema,
  })
  const say = (severity: Diagnostic['severity'], message: string): void => {
    book.diagnostics.push({ severity, message, ...place, server: name })
  }
  for (const warning of warnings) say('warning', `mcp server '${name}': ${warning}`)
  const before = book.servers.get(keyOf(name))
  if (!spec) {
    const kept =
      before === undefined
        ? ''
        : `; the ${before.source.scope === scope ? 'earlier entry' : 'entry of the user config'} stays active`
    return say('error', `mcp server '${name}' failed: ${errors.join('; ')}${kept}`)
  }
  if (before?.source.scope === scope) {
    const spelling = before.name === name ? '' : ` ('${before.name}' and '${name}' are one name)`
    say(
      'warning',
      `mcp server '${name}': duplicate name in the ${scope} config; the later entry wins${spelling}`,
    )
  } else if (before) {
    say('info', `mcp server '${name}': the entry of the project config replaces that of the user config`)
  }
  book.servers.set(keyOf(name), spec)
}

function labelOf(path: string, home: string): string {
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

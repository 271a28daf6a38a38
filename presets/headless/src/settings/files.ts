import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanText, messageOf } from '@tapline/core'
import type { Diagnostic, HostPaths, TrustQuestion } from '@tapline/core'
import { sha256 } from '../plugins/native-import.ts'
import type { TrustStore } from '../state/trust.ts'
import { approvedContent, pluginFilesOf } from './approval.ts'
import { factsOf, factsOfCode } from './facts.ts'
import { parseSettings, SettingsProblem } from './parsing.ts'
import { mergeSettings, NO_SETTINGS } from './settings.ts'
import type { Settings, SettingsFile } from './settings.ts'

/** Names of settings files, in the order in which they are looked for. */
export const SETTINGS_FILES = [
  'tapline.toml',
  'tapline.json',
  'tapline.yaml',
  'tapline.yml',
  'tapline.ts',
] as const

/** What reading the settings found. */
export interface SettingsRead {
  readonly settings: Settings
  readonly questions: readonly TrustQuestion[]
}

/** Reads `tapline.*` of the agent directory, then `.pi/tapline.*` of the project after a saved yes. */
export async function readSettings(
  paths: HostPaths,
  trust: Pick<TrustStore, 'answer'>,
): Promise<SettingsRead> {
  const diagnostics: Diagnostic[] = []
  const questions: TrustQuestion[] = []
  let settings = NO_SETTINGS
  const user = findFile(paths.agentDir, diagnostics)
  const userText = user === undefined ? undefined : readText(user, diagnostics)
  if (user !== undefined && userText !== undefined) {
    const file = await parsed(user, userText, diagnostics)
    if (file) settings = mergeSettings(settings, user, file)
  }
  const project = findFile(join(paths.cwd, '.pi'), diagnostics)
  const text = project === undefined || project === user ? undefined : readText(project, diagnostics)
  if (project !== undefined && text !== undefined) {
    const read = project.endsWith('.ts') ? readCode : readData
    const { merged, question } = await read(settings, { path: project, text, paths, trust, diagnostics })
    settings = merged
    if (question) questions.push(question)
  }
  return { settings: { ...settings, diagnostics }, questions }
}

interface ProjectFile {
  readonly path: string
  readonly text: string
  readonly paths: HostPaths
  readonly trust: Pick<TrustStore, 'answer'>
  readonly diagnostics: Diagnostic[]
}

interface ProjectRead {
  readonly merged: Settings
  readonly question?: TrustQuestion
}

/** Parsed before the yes, so that the question can say what is in it; the plugins that it names belong to it. */
async function readData(settings: Settings, project: ProjectFile): Promise<ProjectRead> {
  const { path, text, paths, trust, diagnostics } = project
  const problems: Diagnostic[] = []
  const file = await parsed(path, text, problems)
  if (!file) {
    diagnostics.push(...problems)
    return { merged: settings }
  }
  const files = pluginFilesOf(file, path)
  const content = approvedContent(text, files)
  const answer = trust.answer(path, paths.cwd, content)
  if (answer === true) {
    diagnostics.push(...problems)
    // What could not be read then must not be run when it is there later.
    const approved = new Map(files.map(({ name, sha256: hash }) => [name, hash ?? 'unreadable']))
    return { merged: mergeSettings(settings, path, file, approved) }
  }
  diagnostics.push(notTrusted(path, answer))
  if (answer === false) return { merged: settings }
  return {
    merged: settings,
    question: { path, directory: paths.cwd, content, facts: factsOf(file, files) },
  }
}

/** Not run before the yes, and then only if it is the approved text. */
async function readCode(settings: Settings, project: ProjectFile): Promise<ProjectRead> {
  const { path, text, paths, trust, diagnostics } = project
  const answer = trust.answer(path, paths.cwd, text)
  if (answer === true) {
    const file = await parsed(path, text, diagnostics, sha256(text))
    return { merged: file ? mergeSettings(settings, path, file) : settings }
  }
  diagnostics.push(notTrusted(path, answer))
  if (answer === false) return { merged: settings }
  return {
    merged: settings,
    question: { path, directory: paths.cwd, content: text, facts: factsOfCode(path) },
  }
}

async function parsed(
  path: string,
  text: string,
  diagnostics: Diagnostic[],
  approved?: string,
): Promise<SettingsFile | undefined> {
  try {
    const { checkSettings } = await import('./validation.ts')
    const { file, problems } = checkSettings(path, await parseSettings(path, text, approved))
    diagnostics.push(...problems)
    return file
  } catch (thrown) {
    const line = thrown instanceof SettingsProblem ? thrown.line : undefined
    const reason = cleanText(messageOf(thrown).split('\n')[0]!, 1000).replace(/\.?$/, '.')
    diagnostics.push({
      severity: 'error',
      message: `settings file ${path}${line === undefined ? '' : `:${line}`} is ignored: ${reason}`,
      path,
      ...(line === undefined ? {} : { line }),
    })
    return undefined
  }
}

function findFile(directory: string, diagnostics: Diagnostic[]): string | undefined {
  const found = SETTINGS_FILES.map((name) => join(directory, name)).filter((path) => existsSync(path))
  const [first, ...others] = found
  for (const other of others) {
    diagnostics.push({
      severity: 'warning',
      message: `${other} is ignored: ${first} is there and comes first.`,
      path: other,
    })
  }
  return first
}

function readText(path: string, diagnostics: Diagnostic[]): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    const reason = code === 'EISDIR' ? 'it is a directory' : `it cannot be read (${code})`
    diagnostics.push({ severity: 'error', message: `settings file ${path} is ignored: ${reason}.`, path })
    return undefined
  }
}

function notTrusted(path: string, answer: false | undefined): Diagnostic {
  const why = answer === false ? 'you said no' : 'nobody was asked yet'
  return {
    severity: 'warning',
    message: `project settings ignored at ${path}: the file is not trusted (${why}).`,
    path,
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '@tapline/core'
import type { Diagnostic, HostPaths, TrustQuestion } from '@tapline/core'
import type { TrustStore } from '../state/trust.ts'
import { parseSettings, SettingsProblem } from './parsing.ts'
import { mergeSettings, NO_SETTINGS } from './settings.ts'
import type { Settings } from './settings.ts'
import { checkSettings } from './validation.ts'

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
  if (user !== undefined && userText !== undefined)
    settings = await add(settings, user, userText, diagnostics)

  const project = findFile(join(paths.cwd, '.pi'), diagnostics)
  const text = project === undefined || project === user ? undefined : readText(project, diagnostics)
  if (project !== undefined && text !== undefined) {
    const answer = trust.answer(project, paths.cwd, text)
    if (answer === true) settings = await add(settings, project, text, diagnostics)
    else diagnostics.push(notTrusted(project, answer))
    if (answer === undefined) {
      questions.push({ path: project, directory: paths.cwd, content: text, facts: factsOf(project, text) })
    }
  }
  return { settings: { ...settings, diagnostics }, questions }
}

async function add(
  settings: Settings,
  path: string,
  text: string,
  diagnostics: Diagnostic[],
): Promise<Settings> {
  try {
    const { file, problems } = checkSettings(path, await parseSettings(path, text))
    diagnostics.push(...problems)
    return file ? mergeSettings(settings, path, file) : settings
  } catch (thrown) {
    const line = thrown instanceof SettingsProblem ? thrown.line : undefined
    const reason = messageOf(thrown).split('\n')[0]!.replace(/\.?$/, '.')
    diagnostics.push({
      severity: 'error',
      message: `settings file ${path}${line === undefined ? '' : `:${line}`} is ignored: ${reason}`,
      path,
      ...(line === undefined ? {} : { line }),
    })
    return settings
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

function factsOf(path: string, content: string): readonly string[] {
  if (path.endsWith('.ts')) return [`runs the code in ${path}`]
  const lines = content.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
  return lines.slice(0, 20).map((line) => line.slice(0, 200))
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isTaplineError, messageOf, type Diagnostic, type HostPaths, type TrustQuestion } from '@tapline/core'
import type { TrustStore } from '../state/trust.ts'
import { mergeSettings, NO_SETTINGS, type Settings, type SettingsFile } from './settings.ts'
import { checkSettings } from './validation.ts'

/** Names of settings files, in the order in which they are looked for. */
export const SETTINGS_FILES = ['tapline.toml', 'tapline.json', 'tapline.yaml', 'tapline.yml', 'tapline.ts'] as const

/** What reading the settings found. */
export interface SettingsRead {
  readonly settings: Settings
  readonly questions: readonly TrustQuestion[]
}

/** Reads `tapline.*` of the agent directory, then `.pi/tapline.*` of the project after a saved yes. */
export async function readSettings(paths: HostPaths, trust: Pick<TrustStore, 'answer'>): Promise<SettingsRead> {
  const diagnostics: Diagnostic[] = []
  const questions: TrustQuestion[] = []
  let settings = NO_SETTINGS
  const user = findFile(paths.agentDir, diagnostics)
  if (user) settings = await add(settings, user, diagnostics)
  const project = findFile(join(paths.cwd, '.pi'), diagnostics)
  if (project && project !== user) {
    const content = readText(project, diagnostics)
    const answer = content === undefined ? false : trust.answer(project, paths.cwd, content)
    if (answer) {
      settings = await add(settings, project, diagnostics)
    } else if (content !== undefined) {
      diagnostics.push({
        severity: 'warning',
        message: `project settings ignored at ${project}: the file is not trusted (${answer === false ? 'you said no' : 'nobody was asked yet'}).`,
        path: project,
      })
      if (answer === undefined) questions.push({ path: project, directory: paths.cwd, content, facts: factsOf(project, content) })
    }
  }
  return { settings: { ...settings, diagnostics }, questions }
}

async function add(settings: Settings, path: string, diagnostics: Diagnostic[]): Promise<Settings> {
  try {
    const content = await load(path)
    const { file, problems } = checkSettings(path, content)
    diagnostics.push(...problems)
    return file ? mergeSettings(settings, path, file) : settings
  } catch (thrown) {
    const message = isTaplineError(thrown) ? thrown.message : messageOf(thrown).split('\n')[0]
    diagnostics.push({ severity: 'error', message: `settings file ${path} is ignored: ${message}`, path })
    return settings
  }
}

/** cosmiconfig reads the file; TypeScript is loaded by Node itself, which strips the types. */
async function load(path: string): Promise<unknown> {
  const [{ cosmiconfig, defaultLoaders }, { parse: parseToml }] = await Promise.all([import('cosmiconfig'), import('smol-toml')])
  const explorer = cosmiconfig('tapline', {
    cache: false,
    loaders: {
      ...defaultLoaders,
      '.toml': (_path: string, content: string) => parseToml(content.replace(/^\uFEFF/, '')),
      '.json': (_path: string, content: string) => JSON.parse(content.replace(/^\uFEFF/, '')) as unknown,
      '.ts': async (file: string) => ((await import(pathToFileURL(file).href)) as { default?: unknown }).default,
    },
  })
  return ((await explorer.load(path)) as { config?: unknown } | null)?.config ?? {}
}

function findFile(directory: string, diagnostics: Diagnostic[]): string | undefined {
  const found = SETTINGS_FILES.map((name) => join(directory, name)).filter((path) => existsSync(path))
  const [first, ...others] = found
  for (const other of others) {
    diagnostics.push({ severity: 'warning', message: `${other} is ignored: ${first} is there and comes first.`, path: other })
  }
  return first
}

function readText(path: string, diagnostics: Diagnostic[]): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    diagnostics.push({ severity: 'error', message: `settings file ${path} cannot be read: ${messageOf(thrown)}`, path })
    return undefined
  }
}

function factsOf(path: string, content: string): readonly string[] {
  if (path.endsWith('.ts')) return [`runs the code in ${path}`]
  const lines = content.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
  return lines.slice(0, 20).map((line) => line.slice(0, 200))
}

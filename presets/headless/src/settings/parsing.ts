import type { Loader } from 'cosmiconfig'
import type { ParseError } from 'jsonc-parser'
import { importFile } from '../plugins/native-import.ts'

/** Why a file is no settings, in a sentence that quotes nothing of it. */
export class SettingsProblem extends Error {
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

/**
 * What a `tapline.*` file holds. cosmiconfig chooses the loader; TypeScript is left to Node, which strips the types,
 * and is run only as the text of the hash `approved`, where there is one.
 */
export async function parseSettings(path: string, text: string, approved?: string): Promise<unknown> {
  const { cosmiconfig, defaultLoaders } = await import('cosmiconfig')
  // What the person said yes to is what is read, whatever the file has become since.
  const said = text.replace(/^\uFEFF/, '')
  const yaml: Loader = () => parseYaml(defaultLoaders['.yaml'], path, said)
  const explorer = cosmiconfig('tapline', {
    cache: false,
    loaders: {
      '.toml': () => parseToml(said),
      '.json': () => parseJson(said),
      '.yaml': yaml,
      '.yml': yaml,
      '.ts': async (file: string) => ((await importFile(file, approved)) as { default?: unknown }).default,
    },
  })
  return ((await explorer.load(path)) as { config?: unknown } | null)?.config ?? {}
}

async function parseToml(text: string): Promise<unknown> {
  const { parse, TomlError } = await import('smol-toml')
  try {
    return parse(text)
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw new SettingsProblem('it is not valid TOML')
    // The rest of the message quotes the lines around.
    const [reason = ''] = thrown.message.split('\n')
    throw new SettingsProblem(reason.replace('Invalid TOML document: ', ''), thrown.line)
  }
}

async function parseJson(text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // Its message may quote the file.
    const { parse, printParseErrorCode } = await import('jsonc-parser')
    const errors: ParseError[] = []
    parse(text, errors, { disallowComments: true })
    const [first] = errors
    if (first === undefined) throw new SettingsProblem('it is not valid JSON')
    const line = text.slice(0, first.offset).split('\n').length
    throw new SettingsProblem(`it is not valid JSON (${printParseErrorCode(first.error)})`, line)
  }
}

function parseYaml(load: Loader, path: string, text: string): unknown {
  try {
    return load(path, text)
  } catch (thrown) {
    const { reason, mark } = (thrown as { reason?: string; mark?: { line?: number } }) ?? {}
    throw new SettingsProblem(
      reason ?? 'it is not valid YAML',
      mark?.line === undefined ? undefined : mark.line + 1,
    )
  }
}

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TrustQuestion } from '@tapline/core'
import { jsonFile, type JsonFile } from '@tapline/core'

interface Answers {
  readonly version: 1
  /** Directory → file inside it → content hash and answer. */
  readonly directories: Readonly<Record<string, Readonly<Record<string, Answer>>>>
}

interface Answer {
  readonly sha256: string
  readonly answer: boolean
  readonly at: string
}

/** Remembers which project files may be used. A yes is tied to the file's exact content. */
export interface TrustStore {
  readonly path: string
  /** The saved answer for this content; undefined when nobody was asked about it. */
  answer(path: string, directory: string, content: string): boolean | undefined
  /** Saves an answer for the content that the question showed. */
  save(question: Pick<TrustQuestion, 'path' | 'directory' | 'content'>, answer: boolean): Promise<void>
  /** Where somebody said yes to exactly `before`, the yes now holds for `after`, which Tapline itself writes there. */
  carry(path: string, directory: string, before: string, after: string): Promise<void>
}

/** The store in `<agent dir>/tapline/trust.json`. `overall` is what --approve or --no-approve say. */
export function trustStore(
  agentDir: string,
  overall?: boolean,
  onSetAside?: (path: string, keptAs: string) => void,
): TrustStore {
  const file: JsonFile<Answers> = jsonFile({
    path: join(agentDir, 'tapline', 'trust.json'),
    empty: (): Answers => ({ version: 1, directories: {} }),
    accepts: (content): content is Answers =>
      typeof (content as Answers | null)?.directories === 'object' &&
      (content as Answers).directories !== null,
    ...(onSetAside ? { onSetAside } : {}),
  })
  const kept = (path: string, directory: string): Answer | undefined =>
    own(own(directoriesIn(file), canonical(directory)), fileKey(directory, path))
  const save: TrustStore['save'] = async ({ path, directory, content }, answer) => {
    const directoryKey = canonical(directory)
    const entry = { sha256: sha256(content), answer, at: new Date().toISOString() }
    await file.update((answers) => ({
      ...answers,
      directories: {
        ...answers.directories,
        [directoryKey]: { ...own(answers.directories, directoryKey), [fileKey(directory, path)]: entry },
      },
    }))
  }
  return {
    path: file.path,
    answer: (path, directory, content) => {
      if (overall !== undefined) return overall
      const entry = kept(path, directory)
      return entry?.sha256 === sha256(content) ? entry.answer : undefined
    },
    save,
    carry: async (path, directory, before, after) => {
      const entry = kept(path, directory)
      if (entry?.answer === true && entry.sha256 === sha256(before))
        await save({ path, directory, content: after }, true)
    },
  }
}

/** A store that cannot be read says nothing: nobody was asked. */
function directoriesIn(file: JsonFile<Answers>): Answers['directories'] {
  try {
    return file.read().directories
  } catch {
    return {}
  }
}

function fileKey(directory: string, path: string): string {
  return relative(directory, path)
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined
}

function canonical(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

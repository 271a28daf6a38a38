import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Files, JsonFile } from '@tapline/core'
import { type CronJob, isJob } from './job.ts'
import { oneLine } from './text.ts'

/** The file of the jobs in the state directory. pi-loops keeps its own jobs elsewhere. */
export const JOB_FILE = 'tapline-cron.json'

const LONGEST_ID = 40

interface Content {
  readonly version: number
  readonly jobs: readonly unknown[]
}

/** What {@link JobFile} takes. */
export interface JobFileOptions {
  readonly files: Files
  readonly loopsDir: string
  /** Told when a file that could not be used has been put aside. */
  onSetAside(path: string, keptAs: string): void
}

/** All jobs of this machine. What is no job stays in the file and is left alone. */
export class JobFile {
  readonly path: string
  readonly #file: JsonFile<Content>
  readonly #none: Content = { version: 1, jobs: [] }

  constructor({ files, loopsDir, onSetAside }: JobFileOptions) {
    this.path = join(loopsDir, JOB_FILE)
    this.#file = files.json<Content>({
      path: this.path,
      empty: () => this.#none,
      accepts: (content): content is Content =>
        typeof content === 'object' && content !== null && 'jobs' in content && Array.isArray(content.jobs),
      onSetAside,
    })
  }

  /** The jobs in the order in which they were added. Throws when the file cannot be read. */
  list(): readonly CronJob[] {
    return this.read().jobs
  }

  /** The jobs, and what is wrong with the file, in sentences. Throws when it cannot be read. */
  read(): { readonly jobs: readonly CronJob[]; readonly problems: readonly string[] } {
    const there = existsSync(this.path)
    const content = this.#file.read()
    if (there && content === this.#none) {
      const problem = `${this.path} holds no list of jobs, so none runs. Repair it; the next change of a job sets it aside.`
      return { jobs: [], problems: [problem] }
    }
    const jobs = new Map<string, CronJob>()
    let strange: string | undefined
    let twice: string | undefined
    for (const [index, entry] of content.jobs.entries()) {
      if (!isJob(entry)) strange ??= `Entry ${index + 1} of ${this.path} is no job and is left alone.`
      else if (!jobs.has(entry.id)) jobs.set(entry.id, entry)
      else
        twice ??= `Several jobs of ${this.path} have the id ${oneLine(entry.id, LONGEST_ID)}: only the first one runs. Give the others ids of their own.`
    }
    return {
      jobs: [...jobs.values()],
      problems: [strange, twice].filter((problem) => problem !== undefined),
    }
  }

  async add(job: CronJob): Promise<void> {
    await this.#file.update((content) => ({ ...content, jobs: [...content.jobs, job] }))
  }

  /**
   * Changes one job under the lock and answers it as it then is, or was when it is removed. Undefined when it is not
   * there or `change` answers the job that it was given.
   */
  async alter(id: string, change: (job: CronJob) => CronJob | 'removed'): Promise<CronJob | undefined> {
    let answer: CronJob | undefined
    await this.#file.update((content) => {
      const index = content.jobs.findIndex((entry) => isJob(entry) && entry.id === id)
      const job = content.jobs[index] as CronJob | undefined
      const changed = job && change(job)
      if (!changed || changed === job) return content
      answer = changed === 'removed' ? job : changed
      return {
        ...content,
        jobs: content.jobs.toSpliced(index, 1, ...(changed === 'removed' ? [] : [changed])),
      }
    })
    return answer
  }
}

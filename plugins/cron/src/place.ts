import type { Host, WindowRecord } from '@tapline/core'
import type { CronJob } from './job.ts'

/** Policies that need nobody in the job's project. */
const ANYWHERE = ['inbox', 'log', 'ignore']

/** Where a job that is due now becomes an event: in this window, in its inbox, or in another window. */
export type Place = 'here' | 'inbox' | 'elsewhere'

/**
 * The window that has the job's project open does it; with several of them, and with none, all windows name the same
 * one. Where nobody has the project open, the one of the machine's leader does, into the inbox.
 */
export function placeOf({ cwd, deliver }: CronJob, { windows, paths, projects }: Host): Place {
  const anywhere = ANYWHERE.includes(deliver)
  if (!windows) return anywhere || projects.same(cwd, paths.cwd) ? 'here' : 'inbox'
  const isOpenIn = ({ kind, cwd: own }: WindowRecord): boolean =>
    kind === 'interactive' && projects.same(own, cwd)
  const owner = windows.ownerOf(cwd)
  // An owner is in the directory or below it. A window above it has the project open too.
  const doer = isOpenIn(owner) ? owner : (windows.list().find(isOpenIn) ?? owner)
  if (!windows.isSelf(doer)) return 'elsewhere'
  return isOpenIn(doer) || anywhere ? 'here' : 'inbox'
}

/** Whether a job belongs to the project of this window. */
export function isOwn({ cwd }: CronJob, { projects, paths }: Host): boolean {
  return projects.same(cwd, paths.cwd)
}

import type { Host } from '@tapline/core'
import type { CronJob } from './job.ts'

/** Policies that need nobody in the job's project. */
const ANYWHERE = ['inbox', 'log', 'ignore']

/** Where a job that is due now becomes an event: in this window, in its inbox, or in another window. */
export type Place = 'here' | 'inbox' | 'elsewhere'

/**
 * The window that has the job's project open does it; with several of them, and with none, all windows name the same
 * one. Where nobody has the project open, the one of the machine's leader does, into the inbox.
 */
export function placeOf({ cwd, deliver }: CronJob, { windows, paths }: Host): Place {
  const anywhere = ANYWHERE.includes(deliver)
  if (!windows) return anywhere || cwd === paths.cwd ? 'here' : 'inbox'
  const owner = windows.ownerOf(cwd)
  if (!windows.isSelf(owner)) return 'elsewhere'
  const open = owner.kind === 'interactive' && windows.sameProject(owner.cwd, cwd)
  return open || anywhere ? 'here' : 'inbox'
}

/** Whether a job belongs to the project of this window. */
export function isOwn({ cwd }: CronJob, { windows, paths }: Host): boolean {
  return windows ? windows.sameProject(cwd, paths.cwd) : cwd === paths.cwd
}

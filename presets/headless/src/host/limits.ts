import { join } from 'node:path'
import { type Host, type PipelineOptions, type PushPolicies, sharedLimits } from '@tapline/core'

/**
 * What one window of a project delivers is limited for all of its windows together, however often they come and go:
 * each entry of each server's push rules in each project counts what passed in `limits.json`.
 */
export function sharedLimitsOf(
  { files, paths, projects }: Pick<Host, 'files' | 'paths' | 'projects'>,
  rulesOf: (server: string) => PushPolicies,
): NonNullable<PipelineOptions['sharedLimit']> {
  const limits = sharedLimits(files, join(paths.loopsDir, 'limits.json'))
  const project = projects.real(paths.cwd)
  return (source, entry, written, limit) => {
    // A policy that is written as a name shares its usual limit with all that say the same.
    const where =
      typeof entry === 'string'
        ? entry
        : Object.entries(rulesOf(source)).find(([, rule]) => rule === entry)?.[0]
    return where === undefined
      ? undefined
      : limits.open(JSON.stringify([project, source, where]), written, limit)
  }
}

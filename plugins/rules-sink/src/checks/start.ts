import type { Ground } from '../ground.ts'
import type { StoredTrigger } from '../queue/item.ts'
import type { Rule } from '../types.ts'
import { sourceOf } from './event.ts'
import type { Group } from './groups.ts'
import { longest } from './limits.ts'
import type { Run, Runs } from './runs.ts'
import { transcriptDirOf } from './transcript-dir.ts'
import { oneLine } from './wording.ts'

/** A run that has its slot. */
export interface StartedRun extends Run {
  /** Milliseconds since the epoch: it has ended by then, in whatever way. */
  readonly until: number
}

const LONGEST_PREVIEW = 200
/** For what is booked once a sub-agent has ended. */
const AFTERMATH_MS = 60_000

/** Takes a slot for the check of a group; nothing when none is free. */
export function startRun(
  ground: Ground,
  runs: Runs,
  trigger: StoredTrigger,
  { cwd, rules }: Group,
): StartedRun | undefined {
  const run = runs.open({
    traceId: trigger.traceId,
    source: sourceOf(trigger),
    event: trigger.method,
    ruleIds: rules.map((rule) => rule.id),
    cwd,
    promptPreview: oneLine(ground.redact(`${trigger.summary}: ${previewOf(rules)}`), LONGEST_PREVIEW),
    transcript: transcriptDirOf(ground.host.paths.loopsDir, cwd),
  })
  if (run === undefined) return undefined
  const timeoutMs = longest(rules) ?? ground.settings.runTimeoutMs
  return Object.assign(run, { until: Date.now() + timeoutMs + 2 * ground.timing.endMs + AFTERMATH_MS })
}

function previewOf(rules: readonly Rule[]): string {
  return rules.map(({ condition, action }) => `${condition} → ${action}`).join('; ')
}

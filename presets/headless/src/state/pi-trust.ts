import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * pi's saved decision about a project, the nearest one up the tree; false when there is none. `exactly` asks for one
 * about this very directory.
 */
export function isTrustedByPi(agentDir: string, cwd: string, exactly = false): boolean {
  let decisions: unknown
  try {
    decisions = JSON.parse(readFileSync(join(agentDir, 'trust.json'), 'utf8').replace(/^\uFEFF/, ''))
  } catch {
    return false
  }
  if (typeof decisions !== 'object' || decisions === null) return false
  for (let directory = canonical(cwd); ; directory = dirname(directory)) {
    const decision = Object.hasOwn(decisions, directory)
      ? (decisions as Record<string, unknown>)[directory]
      : undefined
    if (typeof decision === 'boolean') return decision
    if (exactly || directory === dirname(directory)) return false
  }
}

function canonical(directory: string): string {
  try {
    return realpathSync(resolve(directory))
  } catch {
    return resolve(directory)
  }
}

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { HostPaths } from '@tapline/core'

/** Where things are for this environment: pi's agent directory and pi-loops' state directory. */
export function pathsFor(env: Readonly<Record<string, string | undefined>>, cwd: string): HostPaths {
  const home = env.HOME || homedir()
  const agentDir = absolute(env.PI_CODING_AGENT_DIR, home) ?? join(home, '.pi', 'agent')
  const loopsDir = absolute(env.PI_LOOPS_DIR, home) ?? join(agentDir, 'loops')
  return { cwd: resolve(cwd), home, agentDir, loopsDir }
}

function absolute(path: string | undefined, home: string): string | undefined {
  if (!path) return undefined
  return resolve(path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path)
}

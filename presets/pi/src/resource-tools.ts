import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import { agentDirectory, type CachedTool, factoryFingerprint, type ToolCaller } from './cached-tools.ts'
import type { Outlook } from './outlook.ts'

/** What is kept of resources from one session to the next. */
export interface ResourceFile {
  /** Fingerprints of the server entries that offered resources when they were last connected. */
  readonly offering: readonly string[]
  /** The tools as the user's servers of mcp.json alone make them direct, and under which files. */
  readonly early?: { readonly fingerprint: string; readonly tools: readonly CachedTool[] }
}

/** Where it is kept. */
export function resourceFilePath(agentDir: string): string {
  return join(agentDir, 'tapline', 'resources.json')
}

/** What is kept, as far as it can be read. */
export function readResourceFile(agentDir: string): ResourceFile {
  try {
    const { offering, early } = JSON.parse(readFileSync(resourceFilePath(agentDir), 'utf8')) as ResourceFile
    if (!Array.isArray(offering)) return { offering: [] }
    return { offering, ...(early && Array.isArray(early.tools) ? { early } : {}) }
  } catch {
    return { offering: [] }
  }
}

/**
 * Registers the resource tools as an earlier session had them, where the first request may be made before this session
 * is there: what the model is told of tools is to be the same in every request. A name that somebody else has is left
 * alone. Answers the names that were registered.
 */
export function offerResourceTools(
  pi: ExtensionAPI,
  { empty, waits, servers }: Outlook,
  call: ToolCaller,
): readonly string[] {
  // Where servers are not the user's alone, or more is to come, the session knows better, and is waited for.
  if (empty || waits || servers.some(({ ofUser }) => !ofUser)) return []
  const agentDir = agentDirectory()
  const { early } = readResourceFile(agentDir)
  if (!early || early.fingerprint !== factoryFingerprint(agentDir)) return []
  const taken = new Set(pi.getAllTools().map(({ name }) => name))
  const tools = early.tools.filter(({ name }) => !taken.has(name))
  for (const tool of tools) pi.registerTool({ ...tool, execute: (...args) => call(tool.name, ...args) })
  return tools.map(({ name }) => name)
}

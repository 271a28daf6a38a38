import type { ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { HostPaths, ServerSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { callResourceTool } from '../resource-tools/call.ts'

/** Whose resources a sub-agent reads. */
export interface AgentResources {
  readonly tapline: Tapline
  readonly paths: Pick<HostPaths, 'home'>
  /** The servers whose resources it may read, as they are now. */
  servers(): readonly Server[]
}

/**
 * The tools by which a sub-agent reads the resources of its servers: they only read, so it has them as it has pi's
 * read-only tools. None where no server offers resources.
 */
export function resourceTools({ tapline, paths, servers }: AgentResources): readonly ToolDefinition[] {
  const { resources } = tapline.services
  if (!resources || servers().length === 0) return []
  const given = {
    get servers() {
      return servers()
    },
    server: (name: string) => servers().find(({ spec }) => spec.name === name),
  }
  return resources.tools.map((tool) => ({
    ...tool,
    exposure: 'direct',
    execute: (_id, params, signal) =>
      callResourceTool({ tool, params, signal, tapline: given, home: paths.home, reached: servers }),
  }))
}

/**
 * Whether these tools reach a server, whose entry is the one of the project that the run works in. By the rule of the
 * session a hidden server's resources are hidden too.
 */
export function readsResourcesOf(
  { session }: Server,
  spec: ServerSpec,
  { services }: Pick<Tapline, 'services'>,
): boolean {
  const { state, capabilities } = session.status
  return (
    services.resources !== undefined &&
    spec.enabled &&
    spec.exposure !== 'hidden' &&
    state === 'connected' &&
    capabilities?.['resources'] !== undefined
  )
}

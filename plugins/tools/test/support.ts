import type { ServerSpec, ServerTool, ToolSpec } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { createCatalogue, type CatalogueOptions, tools } from '../src/index.ts'

/** A server as a dialect would give it. */
export function serverSpec(changes: Partial<ServerSpec> = {}): ServerSpec {
  return {
    name: 'docs',
    dialect: 'mcp.json',
    source: { label: 'mcp.json', scope: 'user' },
    enabled: true,
    transport: { type: 'stdio', command: 'docs', args: [], env: {}, inheritEnv: true },
    requestTimeoutMs: 60_000,
    reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 },
    naming: 'mcp',
    exposure: 'codemode',
    toolExposure: {},
    results: { maxBytes: 20 * 1024, overflow: 'temporary-file' },
    push: {},
    ...changes,
  }
}

/** A tool as a server would list it. */
export function serverTool(name: string, changes: Partial<ServerTool> = {}): ServerTool {
  return { name, inputSchema: { type: 'object', properties: {}, required: [] }, ...changes }
}

/** A tool on its way through the hook. */
export function toolSpec(server: Partial<ServerSpec> = {}, tool: Partial<ServerTool> = {}): ToolSpec {
  const spec = serverSpec(server)
  const listed = serverTool('search', tool)
  return {
    name: 'search',
    server: spec,
    serverTool: listed,
    label: '',
    description: '',
    parameters: {},
    exposure: 'direct',
  }
}

/** A catalogue over a real kernel with this package's plugin and others. */
export async function testCatalogue(
  options: Partial<CatalogueOptions> = {},
  plugins: readonly unknown[] = [],
) {
  const { kernel, reports } = await testKernel([tools(), ...plugins])
  return { catalogue: createCatalogue({ registerTool: kernel.hooks.registerTool, ...options }), reports }
}

/** The names of these tools, by the server's name for each. */
export function namesOf(list: readonly ToolSpec[]): Record<string, string> {
  return Object.fromEntries(list.map((tool) => [`${tool.server.name}/${tool.serverTool.name}`, tool.name]))
}

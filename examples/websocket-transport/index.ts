import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Plugin, ServerSpec, Transport } from '@tapline/core'

/** A server for each entry of `[options.websocket]` in tapline.toml: `clock = "wss://example.com/mcp"`. */
function serverAt(name: string, url: string): ServerSpec {
  return {
    name,
    dialect: 'websocket',
    source: { label: 'options.websocket in tapline.*', scope: 'user' },
    enabled: true,
    transport: { type: 'custom', name: 'websocket', config: { url } },
    requestTimeoutMs: 60_000,
    reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
    naming: 'mcp',
    exposure: 'direct',
    toolExposure: {},
    results: { maxBytes: 20 * 1024, overflow: 'temporary-file' },
    push: {},
  }
}

/** Adds servers to the configuration and claims the connections of those it added. */
export const websocket: Plugin = {
  name: 'websocket',
  api: 1,
  setup({ hooks }, options) {
    const servers = Object.entries(options).flatMap(([name, url]) => (typeof url === 'string' ? [serverAt(name, url)] : []))
    hooks.config.tap({ stage: 'late' }, (state) => {
      const known = new Set(state.servers.map(({ name }) => name))
      return { ...state, servers: [...state.servers, ...servers.filter(({ name }) => !known.has(name))] }
    })
    hooks.connect.tap({}, ({ transport }) =>
      transport.type === 'custom' && transport.name === 'websocket'
        ? (new WebSocketClientTransport(new URL(String(transport.config.url))) as unknown as Transport)
        : undefined,
    )
  },
}

/** A pi extension that hands the plugin in when Tapline asks for plugins. */
export default function (pi: ExtensionAPI): void {
  pi.events.on('tapline:collect', (collector) => (collector as { add(plugin: Plugin): void }).add(websocket))
}

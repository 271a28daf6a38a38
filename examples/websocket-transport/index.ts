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
    hooks.config.tap({ stage: 'late' }, (state) => {
      const known = new Set(state.servers.map(({ name }) => name))
      const added = Object.entries(options).filter(([name]) => !known.has(name))
      return {
        ...state,
        servers: [...state.servers, ...added.map(([name, url]) => serverAt(name, String(url)))],
      }
    })
    hooks.connect.tap({}, ({ transport, error }) => {
      if (transport.type !== 'custom' || transport.name !== 'websocket') return undefined
      const url = URL.parse(String(transport.config.url))
      if (!url) throw error('CONNECT_FAILED', 'its address is no URL')
      const socket = new WebSocketClientTransport(url)
      // Node's own error has no message.
      const start = (): Promise<void> =>
        WebSocketClientTransport.prototype.start.call(socket).catch((cause: unknown) => {
          throw error('CONNECT_FAILED', `cannot connect to ${url.host}`, { cause })
        })
      return Object.assign(socket, { start }) as unknown as Transport
    })
  },
}

/** A pi extension that hands the plugin in when Tapline asks for plugins. */
export default function (pi: ExtensionAPI): void {
  pi.events.on('tapline:collect', (collector) => (collector as { add(plugin: Plugin): void }).add(websocket))
}

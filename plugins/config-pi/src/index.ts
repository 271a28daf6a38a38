import type { Plugin } from '@tapline/core'
import { resolveValues } from './connect.ts'
import { keyOf } from './entry.ts'
import { readLayers } from './layers.ts'
import { authorizeByProvider } from './provider.ts'
import { watchProviders } from './provider-watch.ts'
import { overridden, readRegistered } from './registered.ts'

export { providerOf } from './provider.ts'

/**
 * Reads `mcp.json` as pi does, the user's and a trusted project's, and the servers that extensions registered; fills in
 * variables and commands when one of them connects, and sends the token of a provider where its entry says so.
 */
export const configPi = (): Plugin => ({
  name: 'config-pi',
  api: 1,
  setup({ hooks, host }) {
    const watching = watchProviders(host)
    hooks.config.tapPromise({}, async (state, context) => {
      const { servers, diagnostics, ...settings } = await readLayers(context)
      const holders = new Map(state.servers.map((server) => [keyOf(server.name), server]))
      const used = servers.filter(({ name }) => !holders.has(keyOf(name)))
      const taken = servers.flatMap((server) => {
        const holder = holders.get(keyOf(server.name))
        return holder ? [overridden(server, holder)] : []
      })
      return {
        ...state,
        ...settings,
        servers: [...state.servers, ...used],
        diagnostics: [...state.diagnostics, ...diagnostics, ...taken],
      }
    })
    hooks.config.tapPromise({ stage: 'late' }, async (state, context) => {
      if (context.registered.length === 0) return undefined
      const { servers, diagnostics } = await readRegistered(context, state.servers)
      return {
        ...state,
        servers: [...state.servers, ...servers],
        diagnostics: [...state.diagnostics, ...diagnostics],
      }
    })
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      await resolveValues(request, host.env)
      if (isOurs(request.server.dialect)) authorizeByProvider(request, host, watching)
      return undefined
    })
    return () => watching.close()
  },
})

/** Whether a server comes from `mcp.json`, or was registered in its shape. */
function isOurs(dialect: string): boolean {
  return dialect === 'mcp.json' || dialect === 'registered'
}

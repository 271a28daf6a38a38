import type { Diagnostic, Plugin, ServerSpec } from '@tapline/core'
import { filesOf, isMissing } from './file.ts'

/** Reads `mcp.toml` as pi-loops documents it: the user's, and a project's that a person has said yes to. */
export const configLoops = (): Plugin => ({
  name: 'config-loops',
  api: 1,
  setup({ hooks }) {
    hooks.config.tapPromise({}, async (state, context) => {
      // Most people have neither of the two files.
      if (Object.values(filesOf(context)).every(isMissing)) return undefined
      const { keyOf, readLayers } = await import('./layers.ts')
      const { servers, diagnostics, questions } = await readLayers(context)
      const holders = new Map(state.servers.map((server) => [keyOf(server.name), server]))
      const used = servers.filter(({ name }) => !holders.has(keyOf(name)))
      const taken = servers.flatMap((server) => {
        const holder = holders.get(keyOf(server.name))
        return holder ? [notUsed(server, holder)] : []
      })
      return {
        ...state,
        servers: [...state.servers, ...used],
        diagnostics: [...state.diagnostics, ...diagnostics, ...taken],
        questions: [...state.questions, ...questions],
      }
    })
  },
})

/** Names are unique across dialects, and a disabled server holds its name as well. */
function notUsed({ name, source }: ServerSpec, holder: ServerSpec): Diagnostic {
  return {
    severity: 'warning',
    message: `mcp server '${name}' of ${source.label} is not used: '${holder.name}' of ${holder.source.label} goes before it`,
    server: name,
    ...(source.path === undefined ? {} : { path: source.path }),
    ...(source.line === undefined ? {} : { line: source.line }),
  }
}

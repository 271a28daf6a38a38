import type { Kernel, Plugin, ServerSpec } from '@tapline/core'

/**
 * Connects the servers of this project alone. How a server is reached and whether a tool is hidden, the session's plugins
 * say too. Those that other extensions handed in know one session, so they are not set up a second time here.
 */
export const asInSession = (
  session: () => Kernel | undefined,
  lent: (servers: readonly ServerSpec[]) => readonly ServerSpec[],
): Plugin => ({
  name: 'lent-project',
  api: 1,
  setup({ hooks }) {
    hooks.config.tap({ stage: 'host', critical: true }, (state) => ({
      ...state,
      servers: lent(state.servers),
    }))
    hooks.connect.tapPromise({ stage: 'early' }, async (request) => {
      const kernel = session()
      if (!kernel) throw request.error('NOT_CONNECTED', 'The session is being set up.')
      return kernel.hooks.connect.promise(request)
    })
    hooks.registerTool.tap({ stage: 'host', critical: true }, (tool, context) => {
      const hidden = session()?.hooks.registerTool.call(tool, context)?.hidden
      return hidden === undefined ? undefined : { ...tool, hidden }
    })
  },
})

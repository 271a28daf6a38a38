import type { Plugin } from '@tapline/core'

/** Reaches servers over streamable HTTP: the SDK's transport behind a guarded fetch. */
export const streamableHttp = (): Plugin => ({
  name: 'streamable-http',
  api: 1,
  setup({ hooks, host }) {
    const defaults = { 'user-agent': `${host.name}/${host.version}` }
    hooks.connect.tapPromise({}, async (request) => {
      const { transport } = request
      if (transport.type !== 'streamable-http') return undefined
      // Where all servers are processes, nothing of this is needed.
      const { openTransport } = await import('./transport.ts')
      return openTransport(request, transport, defaults)
    })
  },
})

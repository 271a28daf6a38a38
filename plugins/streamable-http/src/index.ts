import type { Plugin } from '@tapline/core'
import { openTransport } from './transport.ts'

/** Reaches servers over streamable HTTP: the SDK's transport behind a guarded fetch. */
export const streamableHttp = (): Plugin => ({
  name: 'streamable-http',
  api: 1,
  setup({ hooks, host }) {
    const defaults = { 'user-agent': `${host.name}/${host.version}` }
    hooks.connect.tapPromise({}, async (request) => {
      const { transport } = request
      return transport.type === 'streamable-http' ? openTransport(request, transport, defaults) : undefined
    })
  },
})

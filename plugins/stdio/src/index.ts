import { resolve } from 'node:path'
import type { Plugin } from '@tapline/core'
import { serverEnvironment } from './environment.ts'
import { secretsOf } from './masking.ts'
import type { Settings } from './settings.ts'
import { settingsOf } from './settings.ts'
import { StdioTransport } from './transport.ts'

export type { Settings } from './settings.ts'

/** Runs servers of type `stdio` as child processes. Options of `tapline.*` go over those given here. */
export const stdio = (options: Partial<Settings> = {}): Plugin => ({
  name: 'stdio',
  api: 1,
  setup({ hooks, host, log }, fileOptions) {
    const settings = settingsOf({ ...options, ...fileOptions }, (message) => log.warn(message))
    const running = new Set<StdioTransport>()
    hooks.connect.tap({}, (request) => {
      const { transport: spec, cwd } = request
      if (spec.type !== 'stdio') return undefined
      const launch = {
        command: spec.command,
        args: spec.args,
        cwd: resolve(cwd, spec.cwd ?? '.'),
        env: serverEnvironment(host.env, spec.inheritEnv, [spec.env, request.env]),
        secrets: secretsOf(host.env, spec.env, request.env),
      }
      const transport: StdioTransport = new StdioTransport(launch, request, settings, () =>
        running.delete(transport),
      )
      running.add(transport)
      return transport
    })
    return async () => {
      await Promise.all([...running].map((transport) => transport.close()))
    }
  },
})

import type { Plugin } from '@tapline/core'

/** A sink named `hello`: it writes one line for every event that it is given. */
export const hello = (greeting = 'hello from'): Plugin => ({
  name: 'hello',
  api: 1,
  setup({ hooks, log }) {
    hooks.deliver.sink('hello').tap({}, ({ server, summary }) => {
      log.info(`${greeting} ${server}: ${summary}`)
      return { sink: 'hello' }
    })
  },
})

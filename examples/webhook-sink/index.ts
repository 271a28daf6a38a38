import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { Plugin } from '@tapline/core'
import { post } from './post.ts'
import { targetOf } from './target.ts'

/** The sink `webhook`: use it as a policy, for example `push.hub.default = "webhook"` in tapline.toml. */
export const webhookSink: Plugin = {
  name: 'webhook-sink',
  api: 1,
  setup({ hooks, host }, options) {
    hooks.deliver.sink('webhook').tapPromise({}, async (trigger, { signal }) => {
      const { traceId: id, receivedAt, source, server, method, key, summary } = trigger
      const body = JSON.stringify({ id, at: new Date(receivedAt), source, server, method, key, summary })
      // What is thrown is told to the person, and the push goes to the inbox.
      await post(targetOf(options, host.env), id, body, signal)
      return { sink: 'webhook' }
    })
  },
}

/** A pi extension that hands the plugin in when Tapline asks for plugins. */
export default function (pi: ExtensionAPI): void {
  pi.events.on('tapline:collect', (collector) =>
    (collector as { add(plugin: Plugin): void }).add(webhookSink),
  )
}

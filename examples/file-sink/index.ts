import { appendFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { Plugin } from '@tapline/core'

/** The sink `file`: use it as a policy, for example `push."*".default = "file"` in tapline.toml. */
export const fileSink: Plugin = {
  name: 'file-sink',
  api: 1,
  setup({ hooks, host }, options) {
    // `[options.file-sink] path = "…"` in tapline.toml.
    const path = typeof options.path === 'string' ? options.path : join(host.paths.agentDir, 'pushes.jsonl')
    hooks.deliver.sink('file').tapPromise({}, async ({ receivedAt, server, method, key, summary }) => {
      await mkdir(dirname(path), { recursive: true })
      await appendFile(
        path,
        `${JSON.stringify({ at: new Date(receivedAt), server, method, key, summary })}\n`,
      )
      return { sink: 'file' }
    })
  },
}

/** A pi extension that hands the plugin in when Tapline asks for plugins. */
export default function (pi: ExtensionAPI): void {
  pi.events.on('tapline:collect', (collector) => (collector as { add(plugin: Plugin): void }).add(fileSink))
}

import { spawn } from 'node:child_process'
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { Plugin } from '@tapline/core'
import { type Command, notification } from './notification.ts'

/** A desktop that does not answer is not waited for longer than this. */
const LONGEST_MS = 5_000

/** The sink `desktop`: use it as a policy, for example `push.hub.default = "desktop"` in tapline.toml. */
export const desktopSink: Plugin = {
  name: 'desktop-sink',
  api: 1,
  setup({ hooks, host }) {
    hooks.deliver.sink('desktop').tapPromise({}, async ({ server, method, summary }, { signal }) => {
      const command = notification(process.platform, `Tapline: ${server}`, summary || method)
      if (!command) throw new Error(`nobody has told this sink how ${process.platform} shows notifications.`)
      // What is thrown is told to the person, and the push goes to the inbox.
      await run(command, host.env, signal)
      return { sink: 'desktop' }
    })
  },
}

/** Runs a program without a shell. Throws how it failed. */
function run({ file, args, env }: Command, own: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)])
    const child = spawn(file, args, {
      env: { ...own, ...env },
      stdio: ['ignore', 'ignore', 'ignore'],
      signal: until,
      killSignal: 'SIGKILL',
      windowsHide: true,
    })
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'is not installed' : `failed: ${error.message}`
      reject(new Error(until.aborted ? `${file} did not end in time.` : `${file} ${why}.`))
    })
    child.once('exit', (code, killedBy) => {
      if (code === 0) resolve()
      else reject(new Error(`${file} ended with ${killedBy ?? `code ${code}`}: is there a desktop?`))
    })
  })
}

/** A pi extension that hands the plugin in when Tapline asks for plugins. */
export default function (pi: ExtensionAPI): void {
  pi.events.on('tapline:collect', (collector) =>
    (collector as { add(plugin: Plugin): void }).add(desktopSink),
  )
}

import type { Plugin } from '@tapline/core'
import { type CommandContext, openTapline } from './command.ts'
import { atInterrupt } from './interrupts.ts'

/** `tapline watch`: one JSON line for each state of each push. Nothing is delivered and nothing claimed. */
export async function watch(context: CommandContext): Promise<number> {
  const printer: Plugin = {
    name: 'watch',
    api: 1,
    setup({ hooks }) {
      hooks.deliver.observe((event) => {
        console.log(JSON.stringify({ ...event, ts: new Date(event.ts).toISOString() }))
        return undefined
      })
    },
  }
  const tapline = await openTapline(context, 'watch', {
    plugins: [printer],
    onDiagnostic: ({ message }) => console.error(`! ${message}`),
  })
  try {
    if (tapline.servers.every((server) => !server.spec.enabled)) {
      console.error('No enabled MCP server is configured.')
      return 1
    }
    tapline.start()
    await ended(context.forSeconds)
    return 0
  } finally {
    await tapline.close()
  }
}

/** Resolves after the given time, or at the first interrupt. */
function ended(seconds: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      resolve,
      seconds === undefined ? 2_147_483_647 : Math.min(seconds * 1000, 2_147_483_647),
    )
    atInterrupt(() => {
      clearTimeout(timer)
      resolve()
    }, ['SIGINT', 'SIGTERM'])
  })
}

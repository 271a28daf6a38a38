import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { SignInPrompt } from '@tapline/oauth'
import { UNRELAYED } from '../approvals.ts'

/** Shows the address, and waits in a dialog that takes a pasted answer; leaving it cancels the sign-in. */
export function promptIn(
  ctx: ExtensionCommandContext,
  server: string,
  open: (address: string) => Promise<boolean>,
): SignInPrompt {
  return {
    show: (address) => {
      ctx.ui.notify(`Sign in to MCP server "${server}" in your browser:\n${address}`, 'info')
      void open(address).then(
        (opened) => {
          if (!opened) ctx.ui.notify('No browser could be opened here: open that address yourself.', 'info')
        },
        () => undefined,
      )
    },
    paste: (signal, problem) =>
      ctx.ui.input(
        [
          ...(problem === undefined ? [] : [problem]),
          `Waiting for you to sign in to "${server}". If the browser is on another machine, paste the address that it was sent to.`,
        ].join('\n'),
        'http://127.0.0.1:…/callback?code=…',
        { ...UNRELAYED, signal },
      ),
  }
}

import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { CommandScope } from '../commands/command.ts'
import { showScreen } from '../screen/showing.ts'
import { createListPage } from './list/page.ts'
import { ServersPanel } from './panel.ts'
import type { Note } from './work.ts'

/** Shows the servers in the place of the editor, until somebody leaves the list or the session ends. */
export async function openServers(ctx: ExtensionCommandContext, scope: CommandScope): Promise<void> {
  const tell = ({ tone, text }: Note): void => {
    try {
      ctx.ui.notify(text, tone === 'failed' ? 'warning' : 'info')
    } catch {
      // The session has ended: nobody is there to read it.
    }
  }
  await showScreen<void>(ctx, (tui, theme, keybindings, done) => {
    const screen = {
      theme,
      keybindings,
      rows: () => tui.terminal.rows,
      requestRender: () => tui.requestRender(),
      write: (sequence: string) => tui.terminal.write(sequence),
      done: () => done(),
    }
    const panel = new ServersPanel(scope, screen, ctx, tell)
    panel.open(createListPage(panel))
    return panel
  })
}

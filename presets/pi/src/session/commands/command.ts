import type { ExtensionAPI, ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import type { Panel } from '../panel/index.ts'
import type { Toolbox } from '../toolbox.ts'

/** What may be typed next, as pi shows it. */
export type Completions = { value: string; label: string; description?: string }[] | null

/** What slash commands work on. */
export interface CommandScope {
  readonly pi: ExtensionAPI
  readonly tapline: Tapline
  readonly toolbox: Toolbox
  readonly paths: HostPaths
  readonly panel: Panel
  /** The servers are others than before: their tools, and what reaches them, are brought up to date. */
  reloaded(): void
}

/** A slash command of Tapline. */
export interface SlashCommand {
  run(args: string, ctx: ExtensionCommandContext, scope: CommandScope): Promise<void> | void
  /** `tapline` is undefined while it is being set up. */
  complete(prefix: string, tapline: Tapline | undefined, paths: HostPaths): Completions
}

/** One word after a command's name; `rest` is what follows it. */
export type Action = (rest: string, ctx: ExtensionCommandContext, scope: CommandScope) => Promise<void> | void

/** Runs the action that the first word names; `first` is the one that is meant by none. */
export async function runAction(
  command: string,
  actions: Readonly<Record<string, Action>>,
  first: string,
  args: string,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  const [, name = first, rest = ''] = /^\s*(\S+)?\s*([\s\S]*)$/.exec(args) ?? []
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) {
    ctx.ui.notify(
      `unknown /${command} command: ${name}. usage: /${command} [${Object.keys(actions).join('|')}]`,
      'warning',
    )
    return
  }
  await action(rest.trim(), ctx, scope)
}

/** The actions that begin with what was typed. */
export function completeActions(actions: Readonly<Record<string, unknown>>, prefix: string): Completions {
  // Enter would only complete what is complete already.
  if (Object.hasOwn(actions, prefix)) return null
  const names = Object.keys(actions).filter((name) => name.startsWith(prefix))
  return names.length === 0 ? null : names.map((name) => ({ value: name, label: name }))
}

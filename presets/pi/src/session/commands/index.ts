import type { SlashCommand } from './command.ts'
import { cronCommand } from './cron.ts'
import { inboxCommand } from './inbox.ts'
import { mcpCommand } from './mcp.ts'
import { newTriggerCommand } from './new-trigger.ts'
import { triggersCommand } from './triggers/index.ts'

/** The slash commands by name. The entry registers the same names before this is loaded. */
export const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  cron: cronCommand,
  inbox: inboxCommand,
  mcp: mcpCommand,
  'new-trigger': newTriggerCommand,
  triggers: triggersCommand,
}

export type { CommandScope, Completions } from './command.ts'

import type { SlashCommand } from './command.ts'

/** The slash commands by name, each loaded when it is typed. The entry registers the same names at the start. */
export const COMMANDS: Readonly<Record<string, () => Promise<SlashCommand>>> = {
  cron: async () => (await import('./cron.ts')).cronCommand,
  inbox: async () => (await import('./inbox.ts')).inboxCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  'new-trigger': async () => (await import('./new-trigger.ts')).newTriggerCommand,
  triggers: async () => (await import('./triggers/index.ts')).triggersCommand,
}

export type { CommandScope, Completions } from './command.ts'

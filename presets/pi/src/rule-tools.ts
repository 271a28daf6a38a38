import type { ExtensionAPI, ExtensionContext, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { ToolCaller } from './cached-tools.ts'

/** What the model is told of a tool; what it does is loaded with the session. */
type RuleTool = Pick<ToolDefinition, 'name' | 'label' | 'description' | 'parameters' | 'annotations'>

const RULE_ID = {
  type: 'string',
  minLength: 1,
  description: 'The id of a rule, as list_triggers shows it, or the beginning of it.',
}

/** The tools by which the model sees and changes rules. */
const RULE_TOOLS: readonly RuleTool[] = [
  {
    name: 'new_trigger',
    label: 'New trigger',
    description:
      'Creates a dynamic trigger rule in this project: when the condition holds, a background agent carries out the action. ' +
      'Conditions are checked when an MCP server pushes an event, and periodically. The background agent can read files and call MCP tools; ' +
      'it has no shell and cannot edit files. The user is asked to confirm. Not for fixed schedules ("every day at 9"): /cron is for those.',
    parameters: objectOf(
      {
        condition: { type: 'string', minLength: 1, description: 'What must hold, complete in itself.' },
        action: { type: 'string', minLength: 1, description: 'What is done then, complete in itself.' },
        spec: { type: 'string', description: "The user's own words, when they said it in one sentence." },
        fire_once: {
          type: 'boolean',
          description: 'Whether the rule is disabled once the condition has held. Default: true.',
        },
        promote_to_chat: {
          type: 'boolean',
          description: 'Whether the result is shown in a chat of this project. Default: false.',
        },
      },
      ['condition', 'action'],
    ),
  },
  {
    name: 'list_triggers',
    label: 'List triggers',
    description: "Lists this project's dynamic trigger rules, or with all_projects those of every project.",
    parameters: objectOf({
      all_projects: { type: 'boolean', description: 'Rules of every project. Default: false.' },
    }),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'remove_trigger',
    label: 'Remove trigger',
    description:
      'Removes a dynamic trigger rule, or with all every rule of this project. The user is asked to confirm.',
    parameters: objectOf({
      id: RULE_ID,
      all: { type: 'boolean', description: 'Every rule of this project. Default: false.' },
    }),
    annotations: { destructiveHint: true },
  },
  {
    name: 'set_trigger_state',
    label: 'Set trigger state',
    description:
      'Enables or disables a dynamic trigger rule. The user is asked to confirm, except when a rule of this project is disabled.',
    parameters: objectOf(
      { id: RULE_ID, enabled: { type: 'boolean', description: 'Whether the rule is to be checked.' } },
      ['id', 'enabled'],
    ),
  },
]

/** The names of the tools by which the model sees and changes rules. */
export const RULE_TOOL_NAMES: readonly string[] = RULE_TOOLS.map(({ name }) => name)

/** What was registered, by the extension that did. */
const offered = new WeakMap<ExtensionAPI, readonly ToolDefinition[]>()

/**
 * Registers the tools for rules, once. One whose name another extension has is left to it, which the person is told.
 * Not before the session has started: a name that is taken would keep pi from loading.
 */
export function offerRuleTools(pi: ExtensionAPI, ctx: ExtensionContext, call: ToolCaller): void {
  if (offered.has(pi)) return
  const taken = new Set(pi.getAllTools().map(({ name }) => name))
  // One question at a time.
  const tools = RULE_TOOLS.filter(({ name }) => !taken.has(name)).map((tool): ToolDefinition => ({
    ...tool,
    executionMode: 'sequential',
    execute: (...args) => call(tool.name, ...args),
  }))
  for (const tool of tools) pi.registerTool(tool)
  offered.set(pi, tools)
  const theirs = RULE_TOOL_NAMES.filter((name) => taken.has(name))
  if (theirs.length === 0) return
  ctx.ui.notify(
    `Another extension has tools named ${theirs.join(', ')}: Tapline's own are not offered to the model. /triggers and /new-trigger go on working.`,
    'warning',
  )
}

/** Takes them back: the session turned out to have no rules. */
export function withdrawRuleTools(pi: ExtensionAPI): void {
  for (const tool of offered.get(pi) ?? []) pi.registerTool({ ...tool, exposure: 'hidden' })
}

function objectOf(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): ToolDefinition['parameters'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

import type { ExtensionAPI, ExtensionContext, ToolDefinition } from '@earendil-works/pi-coding-agent'
import { cleanLines, type HostPaths, messageOf, type Projects } from '@tapline/core'
import { checkRule, type Rule, type Rules, type RuleStore } from '@tapline/rules-sink'
import { currentModel } from '../agents/current.ts'
import type { CommandScope } from '../commands/index.ts'
import { durationText, ruleLine, ruleName, ruleNames } from '../rules-text.ts'
import { approve } from './gate.ts'

/** What the tools for rules work on. */
export type RuleToolScope = Pick<CommandScope, 'pi' | 'tapline' | 'paths'>

interface Call {
  readonly params: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal | undefined
  readonly ctx: ExtensionContext
  readonly pi: ExtensionAPI
  readonly rules: Rules
  readonly paths: HostPaths
  readonly projects: Projects
}

interface Answer {
  readonly text: string
  readonly details: object
}

/** Runs one of the tools for rules. Rejects with what the model is told when nothing came of it. */
export async function callRuleTool(
  { pi, tapline, paths }: RuleToolScope,
  name: string,
  ...[, params, signal, , ctx]: Parameters<ToolDefinition['execute']>
): ReturnType<ToolDefinition['execute']> {
  const { rules } = tapline.services
  if (!rules) throw new Error('there are no rules here: the plugin "rules-sink" is disabled')
  try {
    const { text, details } = await TOOLS[name as keyof typeof TOOLS]({
      params: (params ?? {}) as Record<string, unknown>,
      signal,
      ctx,
      pi,
      rules,
      paths,
      projects: tapline.projects,
    })
    return { content: [{ type: 'text', text: cleanLines(text) }], details }
  } catch (thrown) {
    // It may repeat what the model wrote.
    throw new Error(cleanLines(messageOf(thrown)), { cause: thrown })
  }
}

const NONE = 'dynamic trigger rules: none'

const TOOLS = {
  new_trigger: async ({ params, signal, ctx, pi, rules, paths }: Call): Promise<Answer> => {
    const condition = textOf(params, 'condition')
    const action = textOf(params, 'action')
    const spec = typeof params['spec'] === 'string' ? cleanLines(params['spec']) : ''
    const refused =
      checkRule({ condition, action }) ?? (spec ? checkRule({ condition: spec, action }) : undefined)
    if (refused !== undefined) throw new Error(refused)
    const fireOnce = params['fire_once'] !== false
    const promoteToChat = params['promote_to_chat'] === true
    const change = {
      tool: 'new_trigger',
      action: 'create a dynamic trigger rule',
      reason: 'a background agent carries out its action unattended whenever its condition holds',
      args: params,
      preview: [
        `when ${condition}`,
        `then ${action}`,
        `${fireOnce ? 'once' : 'every time'}; the result is ${promoteToChat ? 'shown in the chat' : 'kept in the audit trail'}`,
      ],
    }
    await approve(ctx, change, signal)
    const rule = await rules.store.add({
      condition,
      action,
      fireOnce,
      promoteToChat,
      cwd: paths.cwd,
      ...currentModel(pi, ctx),
      createdBy: { sessionId: ctx.sessionManager.getSessionId() },
    })
    const seconds = rules.status().pollIntervalSecs
    const lines = [
      `created dynamic trigger rule ${rule.id}`,
      `condition: ${rule.condition}`,
      `action: ${rule.action}`,
      `fire_once: ${rule.fireOnce} · promote_to_chat: ${rule.promoteToChat}`,
      `checked when a server pushes an event, and every ${durationText(seconds * 1_000)}`,
    ]
    return { text: lines.join('\n'), details: { ...detailsOf(rule), poll_interval_secs: seconds } }
  },

  list_triggers: async ({ params, rules, paths }: Call): Promise<Answer> => {
    const all = params['all_projects'] === true
    const found = listed(rules, all ? { all } : { cwd: paths.cwd })
    const lines = found.map((rule) => ruleLine(rule, all || rule.cwd !== paths.cwd))
    const details = {
      count: found.length,
      scope: all ? 'machine' : 'project',
      rules: found.map(detailsOf),
      storage_path: rules.store.path,
    }
    return { text: lines.length === 0 ? NONE : ['dynamic trigger rules:', ...lines].join('\n'), details }
  },

  remove_trigger: async (call: Call): Promise<Answer> => {
    const { params, signal, ctx, rules, paths, projects } = call
    const all = params['all'] === true
    if (!all && params['id'] === undefined) throw new Error('missing required arg: id')
    if (all && params['id'] !== undefined) throw new Error('give the id of one rule, or all, and not both')
    const meant = all ? listed(rules, { cwd: paths.cwd }) : [ruleOf(call)]
    const foreign = meant.some((rule) => !projects.same(rule.cwd, paths.cwd))
    if (meant.length === 0) return { text: NONE, details: { count: 0, removed: [] } }
    const change = {
      tool: 'remove_trigger',
      action: `remove ${meant.length} dynamic trigger rule(s)${all ? ', all of this project' : foreign ? ' of another project' : ''}`,
      reason: 'what they wait for will go unnoticed',
      args: params,
      preview: ruleNames(meant),
    }
    await approve(ctx, change, signal)
    // Those that were shown, and no others that came meanwhile.
    const removed: Rule[] = []
    for (const { id } of meant) {
      const rule = await rules.store.remove(id)
      if (rule) removed.push(rule)
    }
    const names = removed.map((rule) => `removed dynamic trigger rule ${ruleName(rule)}`)
    return {
      text: names.join('\n') || 'they were removed meanwhile',
      details: { count: removed.length, removed: removed.map(({ id }) => id) },
    }
  },

  set_trigger_state: async (call: Call): Promise<Answer> => {
    const { params, signal, ctx, rules, paths, projects } = call
    const rule = ruleOf(call)
    const { enabled } = params
    if (typeof enabled !== 'boolean') throw new Error('missing required arg: enabled')
    const foreign = !projects.same(rule.cwd, paths.cwd)
    if (enabled || foreign) {
      const change = {
        tool: 'set_trigger_state',
        action: `${enabled ? 'enable' : 'disable'} a dynamic trigger rule${foreign ? ' of another project' : ''}`,
        reason: enabled
          ? 'a background agent carries out its action unattended whenever its condition holds'
          : 'what it waits for will go unnoticed there',
        args: params,
        preview: [ruleName(rule), `then ${rule.action}`],
      }
      await approve(ctx, change, signal)
    }
    const changed = await rules.store.setEnabled(rule.id, enabled)
    if (!changed) throw new Error(`no dynamic trigger rule with id '${rule.id}'`)
    const text = `${enabled ? 'enabled' : 'disabled'} dynamic trigger rule ${ruleName(changed)}`
    return { text, details: detailsOf(changed) }
  },
}

function textOf(params: Call['params'], name: string): string {
  const value = params[name]
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`missing required arg: ${name}`)
  return cleanLines(value).trim()
}

/** Throws what keeps the rules from being read: they are not none then. */
function listed({ store }: Rules, scope: Parameters<RuleStore['list']>[0]): readonly Rule[] {
  const rules = store.list(scope)
  const problem = store.problem()
  if (problem !== undefined) throw new Error(problem)
  return rules
}

function ruleOf({ params, rules, paths }: Call): Rule {
  const found = rules.store.resolve(textOf(params, 'id'), paths.cwd)
  if ('error' in found) throw new Error(found.error)
  return found.rule
}

function detailsOf(rule: Rule): object {
  return {
    id: rule.id,
    condition: rule.condition,
    action: rule.action,
    enabled: rule.enabled,
    fire_once: rule.fireOnce,
    promote_to_chat: rule.promoteToChat,
    created_at: rule.createdAt,
    fired_at: rule.firedAt ?? null,
    cwd: rule.cwd,
    model: rule.model ?? null,
    thinking: rule.thinking ?? null,
  }
}

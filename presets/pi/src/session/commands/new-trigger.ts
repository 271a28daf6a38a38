import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { cleanText, messageOf } from '@tapline/core'
import { checkRule, parseRule, type Rules } from '@tapline/rules-sink'
import { currentModel } from '../agents/current.ts'
import { ruleLines } from '../rules-text.ts'
import type { CommandScope, SlashCommand } from './command.ts'

const USAGE = `usage: /new-trigger <what to watch for, and what to do then>
  /new-trigger when dist/app.js is newer than every file in src, say so in one sentence
The rule belongs to this project. It is checked when a server pushes something, and periodically.`

/** `/new-trigger`: a rule from one sentence. */
export const newTriggerCommand: SlashCommand = {
  run: async (args, ctx, scope) => {
    try {
      await create(args.trim(), ctx, scope)
    } catch (thrown) {
      ctx.ui.notify(messageOf(thrown), 'warning')
    }
  },
  complete: () => null,
}

async function create(text: string, ctx: ExtensionCommandContext, scope: CommandScope): Promise<void> {
  if (text === '') return ctx.ui.notify(USAGE, 'info')
  const { rules } = scope.tapline.services
  if (!rules) throw new Error('There are no rules here: the plugin "rules-sink" is disabled in tapline.*.')
  const parsed = parseRule(text)
  if (!('error' in parsed)) return add(parsed, rules, ctx, scope)
  // What no word marks needs somebody who reads; the tool asks for the confirmation then.
  if (!ctx.model || !scope.pi.getActiveTools().includes('new_trigger')) throw new Error(parsed.error)
  scope.pi.sendUserMessage(extractionPrompt(text), ctx.isIdle() ? {} : { deliverAs: 'followUp' })
}

async function add(
  { condition, action }: { readonly condition: string; readonly action: string },
  rules: Rules,
  ctx: ExtensionCommandContext,
  { pi, paths }: CommandScope,
): Promise<void> {
  const refused = checkRule({ condition, action })
  if (refused !== undefined) throw new Error(refused)
  const question = `When: ${cleanText(condition, 400)}\nThen: ${cleanText(action, 400)}\nA background agent does this unattended, once.`
  if (ctx.hasUI && !(await ctx.ui.confirm('Make this rule?', question)))
    return ctx.ui.notify('No rule was made.', 'info')
  const rule = await rules.store.add({
    condition,
    action,
    cwd: paths.cwd,
    ...currentModel(pi, ctx),
    createdBy: { sessionId: ctx.sessionManager.getSessionId() },
  })
  ctx.ui.notify(['made a dynamic trigger rule:', ...ruleLines(rule, undefined)].join('\n'), 'info')
}

function extractionPrompt(text: string): string {
  return [
    'I want a dynamic trigger rule. Split what I say below into a condition (what must hold) and an action (what is done then), each complete in itself and in my language, and call new_trigger once with both and with my words as spec.',
    'fire_once is true unless I ask for every time; promote_to_chat is true only if I want to see the result in this chat.',
    'If it is a fixed schedule, or if one of the two is missing, do not guess: tell me what is missing, or to use /cron, and call nothing.',
    '',
    text,
  ].join('\n')
}

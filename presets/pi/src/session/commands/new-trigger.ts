import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { cleanLines, messageOf } from '@tapline/core'
import { checkRule, parseRule, type Rules, type SaidRule } from '@tapline/rules-sink'
import { currentModel } from '../agents/current.ts'
import { UNRELAYED } from '../approvals.ts'
import { ruleLines, shownText } from '../rules-text.ts'
import type { CommandScope, SlashCommand } from './command.ts'

const USAGE = `usage: /new-trigger <what to watch for, and what to do then>
  /new-trigger when dist/app.js is newer than every file in src, say so in one sentence
The rule belongs to this project. It is checked when a server pushes something, and periodically.`

/** `/new-trigger`: a rule from one sentence. */
export const newTriggerCommand: SlashCommand = {
  run: async (args, ctx, scope) => {
    try {
      await create(cleanLines(args).trim(), ctx, scope)
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
  const canRead = ctx.model !== undefined && scope.pi.getActiveTools().includes('new_trigger')
  // What words leave in doubt needs somebody who reads; the tool asks for the confirmation then.
  if (canRead && ('error' in parsed || !parsed.clear))
    return scope.pi.sendUserMessage(extractionPrompt(text), ctx.isIdle() ? {} : { deliverAs: 'followUp' })
  if ('error' in parsed) throw new Error(parsed.error)
  return add(parsed, rules, ctx, scope)
}

async function add(
  said: SaidRule,
  rules: Rules,
  ctx: ExtensionCommandContext,
  { pi, paths }: CommandScope,
): Promise<void> {
  const { condition, action } = said
  const refused = checkRule({ condition, action })
  if (refused !== undefined) throw new Error(refused)
  const kind = ctx.hasUI ? await chosenKind(said, ctx) : said
  if (!kind) return ctx.ui.notify('No rule was made.', 'info')
  const rule = await rules.store.add({
    condition,
    action,
    fireOnce: kind.fireOnce,
    promoteToChat: kind.promoteToChat,
    cwd: paths.cwd,
    ...currentModel(pi, ctx),
    createdBy: { sessionId: ctx.sessionManager.getSessionId() },
  })
  ctx.ui.notify(['made a dynamic trigger rule:', ...ruleLines(rule, undefined)].join('\n'), 'info')
}

type Kind = Pick<SaidRule, 'fireOnce' | 'promoteToChat'>

const KINDS: readonly (Kind & { readonly label: string })[] = [
  { label: 'Yes, once, and show the result in the chat', fireOnce: true, promoteToChat: true },
  { label: 'Yes, once, and keep the result in the audit trail', fireOnce: true, promoteToChat: false },
  { label: 'Yes, every time, and show the results in the chat', fireOnce: false, promoteToChat: true },
  {
    label: 'Yes, every time, and keep the results in the audit trail',
    fireOnce: false,
    promoteToChat: false,
  },
]
const NO = 'No'

/** What the person wants of it; what the sentence says comes before other kinds. */
async function chosenKind(said: SaidRule, ctx: ExtensionCommandContext): Promise<Kind | undefined> {
  const question = [
    'Make this rule?',
    `When: ${shownText(said.condition)}`,
    `Then: ${shownText(said.action)}`,
    'A background agent does this unattended.',
  ]
  const isSaid = (kind: Kind): boolean =>
    kind.fireOnce === said.fireOnce && kind.promoteToChat === said.promoteToChat
  const kinds = KINDS.toSorted((a, b) => Number(isSaid(b)) - Number(isSaid(a)))
  const { selectIn } = await import('../dialogs/index.ts')
  // The first one is what a person who goes on typing takes by mistake.
  const options = [NO, ...kinds.map(({ label }) => label)]
  const place = await selectIn(ctx, { lines: question, leave: NO }, options, UNRELAYED)
  return place === undefined ? undefined : kinds[place - 1]
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

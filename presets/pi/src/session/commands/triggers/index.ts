import { messageOf } from '@tapline/core'
import { sourcesText } from '../../sources-text.ts'
import { type Action, runAction, type SlashCommand } from '../command.ts'
import { showAudit } from './audit.ts'
import { disableRules, enableRules, listRules, removeRules } from './rules.ts'
import { abortRuns, listRunning, runRule } from './runs.ts'
import { setRule } from './settings.ts'
import { showStatus } from './status.ts'
import { completionsOf, type Subcommand } from './subcommand.ts'

const showSources: Subcommand = {
  names: ['sources', 'hooks'],
  description: 'servers and local sources: state, books, last events, tools, errors',
  run: (_rest, ctx, { tapline, toolbox }) => ctx.ui.notify(sourcesText(tapline, toolbox), 'info'),
}

const showPanel: Subcommand = {
  names: ['panel'],
  usage: 'on|off',
  description: 'pushes of the last hour, above the editor',
  complete: () => [{ value: 'on' }, { value: 'off' }],
  run: (rest, ctx, { panel }) => {
    if (rest !== 'on' && rest !== 'off') throw new Error('usage: /triggers panel on|off')
    panel.turn(rest === 'on')
    if (ctx.mode !== 'tui') ctx.ui.notify(`the panel is ${rest}`, 'info')
  },
}

const showHelp: Subcommand = {
  names: ['help'],
  description: 'this list',
  run: (_rest, ctx) => ctx.ui.notify(helpText(), 'info'),
}

/** In the order in which they are shown; the first is meant when none is named. */
export const SUBCOMMANDS: readonly Subcommand[] = [
  showStatus,
  listRules,
  showSources,
  enableRules,
  disableRules,
  removeRules,
  setRule,
  runRule,
  listRunning,
  showAudit,
  abortRuns,
  showPanel,
  showHelp,
]

const ACTIONS: Readonly<Record<string, Action>> = Object.fromEntries(
  SUBCOMMANDS.flatMap((subcommand) => subcommand.names.map((name) => [name, actionOf(subcommand)])),
)

/** One that takes nothing says so when it is given something. */
function actionOf({ names, usage, run }: Subcommand): Action {
  if (usage !== undefined) return run
  return (rest, ...context) => {
    if (rest !== '') throw new Error(`usage: /triggers ${names[0]}`)
    return run(rest, ...context)
  }
}

/** `/triggers`: what arrives by itself, and what becomes of it. */
export const triggersCommand: SlashCommand = {
  run: async (args, ctx, scope) => {
    try {
      await runAction('triggers', ACTIONS, 'status', args, ctx, scope)
    } catch (thrown) {
      ctx.ui.notify(messageOf(thrown), 'warning')
    }
  },
  complete: (prefix, tapline, paths) => {
    const [, name = '', typed] = /^\s*(\S*)(?:\s+([\s\S]*))?$/.exec(prefix) ?? []
    if (typed === undefined) return subcommandsLike(name)
    const subcommand = SUBCOMMANDS.find(({ names }) => names.includes(name))
    return subcommand?.complete
      ? completionsOf(name, typed, subcommand.complete(typed, tapline, paths))
      : null
  },
}

/** Only what is taught is offered, until an alias is typed. */
function subcommandsLike(typed: string): ReturnType<SlashCommand['complete']> {
  const all = SUBCOMMANDS.flatMap(({ names, description }) => names.map((name) => ({ name, description })))
  // Enter would only complete what is complete already.
  if (all.some(({ name }) => name === typed)) return null
  const taught = SUBCOMMANDS.map(({ names, description }) => ({ name: names[0], description }))
  const fitting = (typed === '' ? taught : all).filter(({ name }) => name.startsWith(typed))
  if (fitting.length === 0) return null
  return fitting.map(({ name, description }) => ({ value: name, label: name, description }))
}

function helpText(): string {
  const entries = SUBCOMMANDS.map(({ names, usage, description }) => ({
    call: `/triggers ${names.join('|')}${usage === undefined ? '' : ` ${usage}`}`,
    description,
  }))
  return [
    'Triggers: what arrives by itself, and what becomes of it.',
    ...entries.map(({ call, description }) => `  ${call}\n      ${description}`),
    '  /new-trigger <what to watch for, and what to do then>\n      makes a rule',
    'n is a number of the list that /triggers rules prints.',
  ].join('\n')
}

import { cleanLines, cleanText, messageOf } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import { type Cron, type CronJob, localTime, SCHEDULE_FORMS, takeSchedule } from '@tapline/cron'
import {
  type Action,
  type CommandScope,
  completeActions,
  type Completions,
  runAction,
  type SlashCommand,
} from './command.ts'

const USAGE = `Usage:
  /cron add <schedule> [--to <sink>] [--name <name>] <text>
  /cron list [--all]
  /cron remove|enable|disable|run <number|id|name>
A schedule is one of: ${SCHEDULE_FORMS}.
Without --to the text starts one turn each time ("run"), which costs tokens; "summary" only shows it.`

/** The sink of messages that channels send. */
const CHANNEL = 'channel'
const LONGEST_LABEL = 60
const LONGEST_DESCRIPTION = 100

type Does = (cron: Cron, rest: string, scope: CommandScope) => Promise<string> | string

const ACTIONS: Readonly<Record<string, Action>> = {
  list: answer(list),
  add: answer(add),
  remove: answer(remove),
  rm: answer(remove),
  enable: answer((cron, rest) => setEnabled(cron, rest, true)),
  disable: answer((cron, rest) => setEnabled(cron, rest, false)),
  run: answer(run),
  help: answer(() => USAGE),
}

/** `/cron`: jobs that become events when their time comes. */
export const cronCommand: SlashCommand = {
  run: (args, ctx, scope) => runAction('cron', ACTIONS, 'list', args, ctx, scope),
  complete: (prefix, tapline) => {
    const [action = '', ref, ...rest] = prefix.trimStart().split(/\s+/)
    if (ref === undefined) return completeActions(ACTIONS, action)
    const refers = ['remove', 'rm', 'enable', 'disable', 'run'].includes(action)
    return refers && rest.length === 0 ? completeJobs(tapline?.services.cron, action, ref) : null
  },
}

/** An action that says what it did, or why not. */
function answer(does: Does): Action {
  return async (rest, ctx, scope) => {
    const { cron } = scope.tapline.services
    if (!cron) {
      const message = 'The plugin "cron" is not loaded: is it among "disable" in tapline.*?'
      return ctx.ui.notify(message, 'warning')
    }
    try {
      // The file of the jobs may be written by hand: what stands there need not be clean.
      ctx.ui.notify(cleanLines(await does(cron, rest, scope)), 'info')
    } catch (thrown) {
      ctx.ui.notify(cleanLines(messageOf(thrown)), 'warning')
    }
  }
}

async function add(cron: Cron, rest: string, { tapline }: CommandScope): Promise<string> {
  if (rest === '') throw new Error(USAGE)
  const before = takeOptions(rest)
  const { schedule, rest: behind } = takeSchedule(before.text)
  const { to = before.to ?? 'run', name = before.name, text: typed } = takeOptions(behind)
  refuseSink(to, tapline)
  const text = /^(["'])((?:(?!\1).)*)\1$/s.exec(typed)?.[2] ?? typed
  const job = await cron.add({ schedule, text, deliver: to, ...(name === undefined ? {} : { name }) })
  return [
    `Added ${described(job)}`,
    `  text: ${job.text}`,
    `  next: ${cron.next(job, 3).map(timeText).join(' · ')}`,
    `  ${CONSEQUENCES[to] ?? `Each time it goes to the sink "${to}".`}`,
    ...(/(?:^|\s)--(?:to|name)\b/.test(text)
      ? ['  Options in the text are text: they stand before it.']
      : []),
  ].join('\n')
}

function refuseSink(to: string, { kernel }: Tapline): void {
  const isChannel = to === CHANNEL
  if (to === 'log' || (kernel.hasSink(to) && !isChannel)) return
  const known = ['run', 'summary', 'inbox', 'rules'].filter((sink) => kernel.hasSink(sink))
  const why = isChannel
    ? `The sink "${to}" takes messages of channels alone`
    : `No plugin provides the sink "${to}"`
  throw new Error(`${why}. There are ${[...known, 'log'].join(', ')}, and those of further plugins.`)
}

const CONSEQUENCES: Readonly<Record<string, string>> = {
  run: 'Each time it starts one turn, which costs tokens. With --to summary it is only shown.',
  summary: 'Each time it is shown in the chat; no model is called.',
  inbox: 'Each time it is put into the inbox.',
  rules: 'Each time the rules of this project are asked about it, which costs tokens where there are any.',
  log: 'Each time it is only listed by /triggers sources.',
}

const OPTION = /^--([\w-]*)(?:(?:=|\s+)(?:"([^"]*)"|'([^']*)'|(\S+)))?(?=\s|$)/

/** The options at the beginning of a text, up to `--` or the first word that is none. */
function takeOptions(typed: string): { to?: string; name?: string; text: string } {
  const options: { to?: string; name?: string } = {}
  let text = typed
  for (let found = OPTION.exec(text); found; found = OPTION.exec(text)) {
    const [whole, option, ...values] = found
    const value = values.find((one) => one !== undefined)
    if (option === '') return { ...options, text: text.slice(2).trim() }
    if (option !== 'to' && option !== 'name')
      throw new Error(
        `There is no option --${option}, only --to and --name. A text that begins with dashes stands behind "--".`,
      )
    if (value === undefined) throw new Error(`--${option} needs a value.`)
    options[option] = value
    text = text.slice(whole.length).trim()
  }
  return { ...options, text }
}

function list(cron: Cron, rest: string): string {
  const own = cron.own()
  const others = cron.list().filter(({ id }) => !own.some((job) => job.id === id))
  const all = rest.split(/\s+/).includes('--all')
  const lines = own.flatMap((job, index) => jobLines(cron, job, `${index + 1}.`))
  const further = all ? others.flatMap((job) => [...jobLines(cron, job, '-'), `       in ${job.cwd}`]) : []
  return [
    own.length === 0
      ? 'No scheduled jobs in this project.'
      : `Scheduled jobs of this project (${own.length}):`,
    ...lines,
    ...(all && others.length > 0 ? [`In other projects (${others.length}):`, ...further] : []),
    ...(!all && others.length > 0 ? [`+ ${others.length} in other projects (/cron list --all)`] : []),
    ...cron.status().problems.map((problem) => `  ! ${problem}`),
  ].join('\n')
}

function jobLines(cron: Cron, job: CronJob, mark: string): string[] {
  const facts = [
    described(job),
    job.enabled ? nextText(cron, job) : 'disabled',
    `${job.runs} ${job.runs === 1 ? 'run' : 'runs'}`,
    ...(job.lastRunAt === undefined ? [] : [`last ${localTime(Date.parse(job.lastRunAt))}`]),
    ...(job.awaySince === undefined ? [] : ['waits for a pi in its project']),
  ]
  return [`  ${mark} ${facts.join(' · ')}`, `       ${job.text.replace(/\s+/g, ' ')}`]
}

function nextText(cron: Cron, job: CronJob): string {
  try {
    const [next] = cron.next(job, 1)
    return next ? `next ${timeText(next)}` : 'due'
  } catch (thrown) {
    return messageOf(thrown)
  }
}

async function remove(cron: Cron, rest: string): Promise<string> {
  const job = await cron.remove(found(cron, rest).id)
  return job ? `Removed ${described(job)}\n  text: ${job.text}` : 'It is gone already.'
}

async function setEnabled(cron: Cron, rest: string, enabled: boolean): Promise<string> {
  const job = await cron.setEnabled(found(cron, rest).id, enabled)
  if (!job) return 'It is gone.'
  const next = enabled ? `\n  next: ${cron.next(job, 3).map(timeText).join(' · ')}` : ''
  return `${enabled ? 'Enabled' : 'Disabled'} ${described(job)}${next}`
}

async function run(cron: Cron, rest: string): Promise<string> {
  const job = await cron.run(found(cron, rest).id)
  return job ? `Running ${described(job)}` : 'It is gone.'
}

/** The job that somebody means: a number of the printed list, an id, or a name. */
function found(cron: Cron, rest: string): CronJob {
  const ref = rest.trim().replace(/^(["'])(.*)\1$/, '$2')
  if (ref === '') throw new Error('Which job? Give its number, id or name from /cron list.')
  const own = cron.own()
  if (/^\d+$/.test(ref)) {
    const job = own[Number(ref) - 1]
    if (job) return job
    throw new Error(`This project has no scheduled job number ${ref}. /cron list shows them.`)
  }
  const all = cron.list()
  const [job, another] =
    [own, all]
      .map((jobs) => jobs.filter(({ id, name }) => id === ref || name === ref))
      .find((jobs) => jobs.length > 0) ?? []
  if (another) throw new Error(`Several jobs are named "${ref}": give an id from /cron list.`)
  if (!job) throw new Error(`No scheduled job is "${ref}". /cron list shows them.`)
  return job
}

function completeJobs(cron: Cron | undefined, action: string, ref: string): Completions {
  try {
    const jobs = (cron?.own() ?? []).filter(({ id }) => id.startsWith(ref) && id !== ref)
    if (jobs.length === 0) return null
    return jobs.map((job) => ({
      value: `${action} ${job.id}`,
      label: cleanText(job.name ?? job.id, LONGEST_LABEL),
      description: cleanText(job.text, LONGEST_DESCRIPTION),
    }))
  } catch {
    return null
  }
}

function described({ id, name, schedule, deliver }: CronJob): string {
  return `${id}${name === undefined ? '' : ` "${name}"`}: ${schedule} → ${deliver}`
}

function timeText(date: Date): string {
  return `${date.toLocaleDateString('en-GB', { weekday: 'short' })} ${localTime(date.getTime())}`
}

import { cleanLines, cleanText, createProjects, files, messageOf } from '@tapline/core'
import { type NewRule, openRules, parseRule, type Rule, type RuleStore } from '@tapline/rules-sink'
import type { CommandContext } from './command.ts'

const USAGE = `Usage: tapline rules <command> [--json]

  list [--all]             the rules of this project, or of every one
  add <condition> <action> or --condition TEXT --action TEXT, or one sentence:
                           "when <condition>, then <action>"
                           --repeat: not only once; --promote: show the result in the chat
                           (a sentence with "every time …" or "tell me …" says so too)
  remove|enable|disable <id>

The beginning of an id is enough in its own project.`

const LONGEST_TEXT = 500

type Does = (store: RuleStore, context: CommandContext, args: readonly string[]) => Promise<Said> | Said

/** What a command answers: as text, and as JSON. */
interface Said {
  readonly text: string
  readonly json: object
}

const COMMANDS: Readonly<Record<string, Does>> = {
  list,
  add,
  remove: async (store, { paths }, [ref = '']) => {
    const { id } = meant(store, ref, paths.cwd)
    return said('Removed', await store.remove(id))
  },
  enable: async (store, { paths }, [ref = '']) =>
    said('Enabled', await store.setEnabled(meant(store, ref, paths.cwd).id, true)),
  disable: async (store, { paths }, [ref = '']) =>
    said('Disabled', await store.setEnabled(meant(store, ref, paths.cwd).id, false)),
}

/** After a command; one when nothing is said. */
const MOST_WORDS: Readonly<Record<string, number>> = { list: 0, add: Number.POSITIVE_INFINITY }

/**
 * `tapline rules list|add|remove|enable|disable`: the rules of this machine. Starts no server. Exit 1 when there is no
 * such rule, when one is refused, or when the rules cannot be read or written; 2 when the command is not understood.
 */
export async function rules(context: CommandContext): Promise<number> {
  const [name = 'list', ...args] = context.args
  const does = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!does) {
    console.error(`tapline rules has no command "${name}".\n\n${USAGE}`)
    return 2
  }
  const most = MOST_WORDS[name] ?? 1
  if (args.length > most) {
    console.error(`tapline rules ${name} takes ${most === 0 ? 'no words' : 'one id'}.\n\n${USAGE}`)
    return 2
  }
  const { loopsDir, home } = context.paths
  const store = openRules({
    files,
    loopsDir,
    projects: createProjects(home),
    onSetAside: (path, keptAs) =>
      console.error(`${path} could not be used; what stood there is now ${keptAs}.`),
  })
  try {
    const problem = store.problem()
    if (problem !== undefined && name !== 'add') throw new Error(problem)
    const { text, json } = await does(store, context, args)
    console.log(context.json ? JSON.stringify(json) : text)
    return 0
  } catch (thrown) {
    if (context.json) console.log(JSON.stringify({ error: messageOf(thrown) }))
    else console.error(messageOf(thrown))
    return 1
  }
}

function list(store: RuleStore, { paths, all }: CommandContext): Said {
  const every = store.list({ all: true })
  const listed = all ? every : store.list({ cwd: paths.cwd })
  const title = all ? 'Rules of every project' : `Rules of ${cleanText(paths.cwd, LONGEST_TEXT)}`
  const elsewhere = every.length - listed.length
  return {
    text: [
      `${title}: ${listed.length === 0 ? 'none' : listed.length}`,
      ...listed.flatMap((rule) => linesOf(rule)),
      ...(elsewhere === 0 ? [] : [`+ ${elsewhere} in other projects (--all)`]),
    ].join('\n'),
    json: { rules: listed },
  }
}

async function add(
  store: RuleStore,
  { paths, rule }: CommandContext,
  args: readonly string[],
): Promise<Said> {
  const { repeat, promote, ...words } = rule ?? {}
  const made = await store.add({
    ...wordsOf(words, args.map(cleanLines)),
    ...(repeat === true ? { fireOnce: false } : {}),
    ...(promote === true ? { promoteToChat: true } : {}),
    cwd: paths.cwd,
  })
  return said('Added', made)
}

type Words = Pick<NewRule, 'condition' | 'action' | 'fireOnce' | 'promoteToChat'>

/** What was said in whichever way. */
function wordsOf({ condition, action }: Partial<Words>, args: readonly string[]): Words {
  const [first, second, ...more] = args
  if (condition !== undefined && action !== undefined && first === undefined)
    return { condition: cleanLines(condition), action: cleanLines(action) }
  if (condition === undefined && action === undefined && first !== undefined && more.length === 0) {
    if (second !== undefined) return { condition: first, action: second }
    const parsed = parseRule(first)
    if (!('error' in parsed)) {
      const { clear: _, ...words } = parsed
      return words
    }
  }
  throw new Error(`Say what must hold and what is then done, each in quotes.\n\n${USAGE}`)
}

function meant(store: RuleStore, ref: string, cwd: string): Rule {
  const found = store.resolve(ref, cwd)
  if ('error' in found) throw new Error(found.error)
  return found.rule
}

function said(what: string, rule: Rule | undefined): Said {
  if (!rule) throw new Error('The rule is gone: another process has removed it.')
  return { text: [`${what}:`, ...linesOf(rule)].join('\n'), json: { rule } }
}

/** Texts that a model may have written, clean: they are printed in a terminal. */
function linesOf(rule: Rule): string[] {
  const { id, enabled, fireOnce, promoteToChat, condition, action, cwd, disabledReason, firedAt } = rule
  const facts = [
    enabled ? 'enabled' : 'disabled',
    fireOnce ? 'fire_once' : 'repeat',
    promoteToChat ? 'promote_to_chat' : 'audit_only',
    ...(firedAt === undefined ? [] : [`fired ${firedAt}`]),
  ]
  return [
    `  ${id}  ${facts.map((fact) => cleanText(fact, LONGEST_TEXT)).join(', ')}  ${cleanText(cwd, LONGEST_TEXT)}`,
    `      when ${cleanText(condition, LONGEST_TEXT)}`,
    `      then ${cleanText(action, LONGEST_TEXT)}`,
    ...(disabledReason === undefined ? [] : [`      ! ${cleanText(disabledReason, LONGEST_TEXT)}`]),
  ]
}

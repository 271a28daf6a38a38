import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isTaplineError, messageOf } from '@tapline/core'
import { pathsFor } from '../paths.ts'
import { call } from './call.ts'
import { channel } from './channel.ts'
import type { CommandContext } from './command.ts'
import { doctor } from './doctor.ts'
import { inbox } from './inbox.ts'
import { list } from './list.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { rules } from './rules.ts'
import { watch } from './watch.ts'

const USAGE = `Usage: tapline <command> [options]

  list                             connect every enabled server; print state, tools and errors
  call <server> <tool> [json]      call a tool; "-" reads the arguments from standard input
  watch [--for SECONDS]            print each push as it is mapped, delivering nothing
  channel test <server>            wait for one event of a channel server, each step printed;
                                   --for SECONDS, and --reply TOOL [json] to answer it
  login|logout <server>            sign in with OAuth in a browser (--for SECONDS: at most),
                                   or delete what is stored of that
  login|logout <server> --token    store the token that its entry names, read from standard
                                   input, in the keychain; or remove it
  inbox [list] [--all]             what arrived and waits, in this project or in every one
  inbox claim|dismiss <id>         mark a finding; dismiss takes --reason TEXT
  inbox clear [--all]              dismiss what list prints
  rules [list] [--all]             the rules of this project, or of every one
  rules add <condition> <action>   or one sentence, or --condition and --action;
                                   --repeat: not only once, --promote: result into the chat
  rules remove|enable|disable <id>
  doctor [--undo]                  what is configured, from where, what is wrong, what to do

Options: --json   --cwd DIR   --approve | --no-approve (project files)   --help

PI_CODING_AGENT_DIR and PI_LOOPS_DIR say where the files are.`

const COMMANDS: Readonly<Record<string, (context: CommandContext) => Promise<number>>> = {
  list,
  call,
  watch,
  channel,
  login,
  logout,
  inbox,
  rules,
  doctor,
}

/** Runs the `tapline` command; answers the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever read the output has seen enough, as `head` has.
  process.stdout.on('error', () => process.exit(0))
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        cwd: { type: 'string' },
        for: { type: 'string' },
        reply: { type: 'string' },
        undo: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
        token: { type: 'boolean', default: false },
        reason: { type: 'string' },
        condition: { type: 'string' },
        action: { type: 'string' },
        repeat: { type: 'boolean', default: false },
        promote: { type: 'boolean', default: false },
        approve: { type: 'boolean' },
        'no-approve': { type: 'boolean' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (thrown) {
    return refuse(`${messageOf(thrown)}\n\n${USAGE}`)
  }
  const { values, positionals } = parsed
  const [name, ...rest] = positionals
  if (values.help || name === 'help') {
    console.log(USAGE)
    return 0
  }
  if (name === undefined) return refuse(USAGE)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) return refuse(`tapline has no command "${name}".\n\n${USAGE}`)
  if (values.approve && values['no-approve'])
    return refuse('--approve and --no-approve contradict each other: give one of them.')
  const forSeconds = values.for === undefined ? undefined : Number(values.for)
  if (forSeconds !== undefined && !(forSeconds > 0))
    return refuse('--for takes a positive number of seconds.')
  const cwd = values.cwd ?? process.cwd()
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return refuse(`--cwd: there is no directory ${cwd}.`)
  }
  try {
    return await command({
      paths: pathsFor(process.env, cwd),
      env: process.env,
      args: rest,
      json: values.json,
      undo: values.undo,
      all: values.all,
      token: values.token,
      rule: ruleIn(values),
      ...(values.reason === undefined ? {} : { reason: values.reason }),
      ...(forSeconds === undefined ? {} : { forSeconds }),
      ...(values.reply === undefined ? {} : { reply: values.reply }),
      ...(values.approve ? { approve: true } : values['no-approve'] ? { approve: false } : {}),
    })
  } catch (thrown) {
    return refuse(isTaplineError(thrown) ? thrown.toString() : messageOf(thrown))
  }
}

function ruleIn(values: {
  readonly condition?: string | undefined
  readonly action?: string | undefined
  readonly repeat: boolean
  readonly promote: boolean
}): NonNullable<CommandContext['rule']> {
  const { condition, action, repeat, promote } = values
  return {
    ...(condition === undefined ? {} : { condition }),
    ...(action === undefined ? {} : { action }),
    repeat,
    promote,
  }
}

function refuse(message: string): number {
  console.error(message)
  return 2
}

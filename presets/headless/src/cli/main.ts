import { parseArgs } from 'node:util'
import { pathsFor } from '../paths.ts'
import { call } from './call.ts'
import { doctor } from './doctor.ts'
import { list } from './list.ts'
import type { CommandContext } from './command.ts'
import { watch } from './watch.ts'

const USAGE = `Usage: tapline <command> [options]

  list                             connect every enabled server; print state, tools and errors
  call <server> <tool> [json]      call a tool; "-" reads the arguments from standard input
  watch [--for SECONDS]            print each push as it is mapped, delivering nothing
  doctor [--undo]                  what is configured, from where, what is wrong, what to do

Options: --json   --cwd DIR   --approve | --no-approve (project files)   --help

PI_CODING_AGENT_DIR and PI_LOOPS_DIR say where the files are.`

const COMMANDS: Readonly<Record<string, (context: CommandContext) => Promise<number>>> = { list, call, watch, doctor }

/** Runs the `tapline` command; answers the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        cwd: { type: 'string' },
        for: { type: 'string' },
        undo: { type: 'boolean', default: false },
        approve: { type: 'boolean' },
        'no-approve': { type: 'boolean' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${USAGE}`)
    return 2
  }
  const { values, positionals } = parsed
  const [name, ...rest] = positionals
  if (values.help || name === undefined || name === 'help') {
    console.log(USAGE)
    return values.help || name === 'help' ? 0 : 2
  }
  const command = COMMANDS[name]
  if (command === undefined || !Object.hasOwn(COMMANDS, name)) {
    console.error(`tapline has no command "${name}".\n\n${USAGE}`)
    return 2
  }
  const forSeconds = values.for === undefined ? undefined : Number(values.for)
  if (forSeconds !== undefined && !(forSeconds > 0)) {
    console.error('--for takes a positive number of seconds.')
    return 2
  }
  return command({
    paths: pathsFor(process.env, values.cwd ?? process.cwd()),
    env: process.env,
    args: rest,
    json: values.json,
    undo: values.undo,
    ...(forSeconds === undefined ? {} : { forSeconds }),
    ...(values.approve ? { approve: true } : values['no-approve'] ? { approve: false } : {}),
  })
}

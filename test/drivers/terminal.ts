import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { killQuietly, waitUntil } from './processes.ts'
import { makeDirectory } from './test-root.ts'

const run = promisify(execFile)

/** What runs in the terminal, and how large it is. */
export interface TerminalOptions {
  readonly command: readonly string[]
  /** The whole environment of the command; TERM is added. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
}

/** A program in a real terminal. */
export interface Terminal extends AsyncDisposable {
  /** The process id of the command. */
  readonly pid: number
  /** The visible text, all that has scrolled by too, or the visible text with its colours, as escape sequences. */
  screen(part?: 'visible' | 'all' | 'coloured'): Promise<string>
  /** Types text literally. */
  type(text: string): Promise<void>
  /** Presses a key by its tmux name: Enter, Escape, Up, C-c. */
  key(...names: readonly string[]): Promise<void>
  /** Types a line, waits until it is on the screen, and presses Enter. */
  submit(line: string): Promise<void>
  resize(columns: number, rows: number): Promise<void>
  /** Resolves with the first screen that matches. */
  waitForScreen(match: RegExp | ((screen: string) => boolean), ms?: number): Promise<string>
  /** Resolves with the command's exit status when it has ended: 128 and the signal's number where one ended it. */
  waitForExit(ms?: number): Promise<number>
  kill(): Promise<void>
}

// The dead pane stays, so that the last screen of a program that failed can be read.
const configuration = [
  'set -g remain-on-exit on',
  'set -g status off',
  'set -g history-limit 5000',
  'set -g default-terminal xterm-256color',
  'set -s escape-time 0',
  'set -s extended-keys on',
]

const CAPTURES = { visible: [], all: ['-S', '-'], coloured: ['-e'] } as const

/** Starts a command in a terminal of its own, behind a private socket; it ends with the test process at the latest. */
export async function startTerminal({
  command,
  env,
  cwd,
  columns = 120,
  rows = 40,
}: TerminalOptions): Promise<Terminal> {
  const directory = makeDirectory('tty')
  const socket = path.join(directory, 'socket')
  const file = path.join(directory, 'tmux.conf')
  writeFileSync(file, configuration.join('\n'))
  const tmux = async (...args: readonly string[]) =>
    (await run('tmux', ['-S', socket, '-f', file, ...args], { env: { ...env }, timeout: 10_000 })).stdout
  const ask = async (format: string) => (await tmux('display-message', '-p', format)).trim()

  await tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', cwd, ...command)
  const pid = Number(await ask('#{pane_pid}'))
  const server = Number(await ask('#{pid}'))

  const terminal: Terminal = {
    pid,
    screen: (part = 'visible') => tmux('capture-pane', '-p', ...CAPTURES[part]),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    key: async (...names) => void (await tmux('send-keys', ...names)),
    async submit(line) {
      await terminal.type(line)
      // A key pressed before the program has taken the text may be handled before it.
      await terminal.waitForScreen((screen) => screen.includes(line.slice(0, columns - 10)))
      await terminal.key('Enter')
    },
    resize: async (x, y) => void (await tmux('resize-window', '-x', String(x), '-y', String(y))),
    async waitForScreen(match, ms = 20_000) {
      let screen = ''
      const matches = typeof match === 'function' ? match : (text: string) => match.test(text)
      const look = async () => matches((screen = await terminal.screen()))
      await waitUntil(look, ms, () => `${String(match)} on this screen:\n${screen}`)
      return screen
    },
    async waitForExit(ms = 20_000) {
      let status = ''
      let signal = ''
      let screen = ''
      const ended = async () => {
        status = await ask('#{pane_dead_status}')
        signal = await ask('#{pane_dead_signal}')
        screen = await terminal.screen()
        if (status !== '' || signal !== '') return true
        // A pane is dead as soon as its output has ended. How its command ended is known later, and never where tmux
        // has missed the signal that says so: then it is told again.
        if ((await ask('#{pane_dead}')) === '1') process.kill(server, 'SIGCHLD')
        return false
      }
      await waitUntil(ended, ms, () => `the command to end; this is on its screen:\n${screen}`)
      return status === '' ? 128 + Number(signal) : Number(status)
    },
    async kill() {
      await tmux('kill-server').catch(() => {})
      killQuietly(-pid)
      rmSync(directory, { recursive: true, force: true })
    },
    [Symbol.asyncDispose]: () => terminal.kill(),
  }
  return terminal
}

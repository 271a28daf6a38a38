import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, type ToolSpec } from '@tapline/core'
import type { Server } from '../host/server.ts'
import { describeServer } from '../host/status.ts'
import type { ServerDescription } from '../host/status.ts'
import type { Tapline } from '../host/tapline.ts'
import { SETTINGS_FILES } from '../settings/files.ts'
import { serverLogPath } from '../state/server-log.ts'
import { isBuiltInSilenced, setBuiltInSilenced, SILENCE } from '../state/pi-settings.ts'
import { openTapline } from './command.ts'
import type { CommandContext } from './command.ts'
import { type KeychainCheck, keychainCheck } from './keychain-check.ts'
import { problemsOf } from './list.ts'
import { type SignInFile, signInFile } from './sign-in-file.ts'

/** A server, what to do about it, whether somebody is signed in, and the project's file that overrides its entry. */
type Checked = ServerDescription & {
  readonly attention?: string
  readonly signedIn?: boolean
  readonly override?: string
}

interface Findings {
  readonly files: readonly { readonly path: string; readonly present: boolean }[]
  readonly plugins: readonly string[]
  readonly servers: readonly Checked[]
  readonly problems: readonly string[]
  /** What servers log. */
  readonly log: { readonly path: string; readonly present: boolean }
  /** Absent when nobody has signed in to a server. */
  readonly signIns?: SignInFile
  /** Absent when no server needs it. */
  readonly keychain?: KeychainCheck
  /** Absent when pi's settings cannot be read. */
  readonly builtInSilenced?: boolean
}

/** `tapline doctor`: what is configured, from where, what is wrong, what to do. Exit 1 when something is wrong. */
export async function doctor(context: CommandContext): Promise<number> {
  if (context.undo) return undo(context)
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  try {
    tapline.start()
    await Promise.all(tapline.servers.map((server) => server.settled()))
    const { tools } = tapline.catalogue.list()
    const servers = await Promise.all(tapline.servers.map((server) => check(tapline, server, tools)))
    const settings = silenced(context)
    const signIns = signInFile(context.paths.agentDir)
    const log = serverLogPath(context.paths.agentDir)
    const keychain = await keychainCheck(context, tapline)
    // Of the file with the sign-ins the plugin that reads it has spoken as well.
    const problems = [
      ...new Set([
        ...problemsOf(tapline, servers),
        ...(typeof settings === 'string' ? [settings] : []),
        ...(signIns?.problem === undefined ? [] : [signIns.problem]),
      ]),
    ]
    const findings: Findings = {
      files: filesOf(context).map((path) => ({ path, present: existsSync(path) })),
      plugins: tapline.kernel.plugins,
      servers,
      problems,
      log: { path: log, present: existsSync(log) },
      ...(signIns ? { signIns } : {}),
      ...(keychain ? { keychain } : {}),
      ...(typeof settings === 'boolean' ? { builtInSilenced: settings } : {}),
    }
    if (context.json) console.log(JSON.stringify(findings, undefined, 2))
    else print(findings)
    const well = servers.every(
      ({ state, error }) => (state === 'connected' && error === undefined) || state === 'disabled',
    )
    return well && problems.length === 0 ? 0 : 1
  } finally {
    await tapline.close()
  }
}

async function check(tapline: Tapline, server: Server, tools: readonly ToolSpec[]): Promise<Checked> {
  const { spec, session } = server
  const { attention } = session.status
  const { override } = spec.source
  const { signIns } = tapline.services
  return {
    ...describeServer(server, tools),
    ...(attention ? { attention } : {}),
    ...(spec.enabled && signIns?.uses(spec) ? { signedIn: await signIns.isSignedIn(spec) } : {}),
    ...(override === undefined ? {} : { override }),
  }
}

async function undo({ paths, json }: CommandContext): Promise<number> {
  const undone = await setBuiltInSilenced(paths.agentDir, false)
  if (json) console.log(JSON.stringify({ undone }))
  else if (undone) {
    console.log(
      `Removed "${SILENCE}" from pi's settings: pi's built-in MCP support is back where Tapline is not loaded.`,
    )
  } else console.log(`Nothing to undo: pi's settings do not contain "${SILENCE}".`)
  return 0
}

/** Whether pi's own MCP support is silenced, or why that is not known. */
function silenced({ paths }: CommandContext): boolean | string {
  try {
    return isBuiltInSilenced(paths.agentDir)
  } catch (thrown) {
    return messageOf(thrown)
  }
}

function print({
  files,
  plugins,
  servers,
  problems,
  log,
  signIns,
  keychain,
  builtInSilenced,
}: Findings): void {
  console.log('Files')
  for (const { path, present } of files) console.log(`  ${present ? '✓' : '·'} ${path}`)
  if (signIns)
    console.log(`  ✓ ${signIns.path}${signIns.mode === undefined ? '' : ` (mode ${signIns.mode})`}`)
  console.log(`Plugins\n  ${plugins.join(', ')}`)
  console.log('Servers')
  for (const server of servers) {
    const signedIn = server.state === 'connected' && server.signedIn ? ['signed in'] : []
    const { length } = server.tools
    const state = [stateOf(server), ...signedIn, `${length} tool${length === 1 ? '' : 's'}`]
    console.log(`  ${server.name}: ${state.join(', ')}, from ${server.source}`)
    if (server.override) console.log(`    changed for this project by ${server.override}`)
    if (server.error) console.log(`    ${server.error.replaceAll('\n', '\n    ')}`)
    if (server.attention) console.log(`    What to do: ${server.attention}`)
  }
  if (servers.length === 0) console.log('  none configured')
  console.log(problems.length === 0 ? 'Problems\n  none' : `Problems\n  ${problems.join('\n  ')}`)
  if (keychain) {
    const answers = keychain.answers ? 'it answers' : keychain.reason
    console.log(`Credentials: ${keychain.label}: ${answers}`)
  }
  console.log(`What servers log: ${log.path}${log.present ? '' : ' (nothing yet)'}`)
  if (builtInSilenced === undefined) return
  console.log(
    builtInSilenced
      ? `pi's built-in MCP support is silenced by "${SILENCE}" in its settings; "tapline doctor --undo" takes that back.`
      : "pi's built-in MCP support is not silenced in its settings; pi warns at each start while Tapline replaces it.",
  )
}

function stateOf({ state, signIn }: Checked): string {
  if (state === 'auth_failed') return signIn ? 'needs sign-in' : 'not let in'
  return state
}

function filesOf({ paths }: CommandContext): string[] {
  const settingsIn = (directory: string): string[] =>
    SETTINGS_FILES.map((name) => join(directory, name)).filter((path) => existsSync(path))
  return [
    join(paths.agentDir, 'mcp.json'),
    join(paths.loopsDir, 'mcp.toml'),
    ...settingsIn(paths.agentDir),
    join(paths.cwd, '.pi', 'mcp.json'),
    join(paths.cwd, '.pi', 'mcp.toml'),
    ...settingsIn(join(paths.cwd, '.pi')),
  ]
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeServer } from '../host/status.ts'
import { SETTINGS_FILES } from '../settings/files.ts'
import { isBuiltInSilenced, setBuiltInSilenced, SILENCE } from '../state/pi-settings.ts'
import { type CommandContext, openTapline } from './command.ts'

/** `tapline doctor`: what is configured, from where, what is wrong, what to do. Exit 1 when something is wrong. */
export async function doctor(context: CommandContext): Promise<number> {
  const { agentDir } = context.paths
  if (context.undo) {
    const changed = await setBuiltInSilenced(agentDir, false)
    console.log(changed ? `Removed "${SILENCE}" from pi's settings: pi's built-in MCP support is back where Tapline is not loaded.` : `Nothing to undo: pi's settings do not contain "${SILENCE}".`)
    return 0
  }
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  try {
    tapline.start()
    await Promise.all(tapline.servers.map((server) => server.settled()))
    const list = tapline.catalogue.list()
    const servers = tapline.servers.map((server) => ({
      ...describeServer(server, list.tools),
      ...(server.session.status.attention ? { attention: server.session.status.attention } : {}),
    }))
    const files = filesOf(context).map((path) => ({ path, present: existsSync(path) }))
    const problems = [...tapline.diagnostics.map(({ message }) => message), ...list.diagnostics.map(({ message }) => message)]
    const silenced = isBuiltInSilenced(agentDir)
    if (context.json) {
      console.log(JSON.stringify({ files, plugins: tapline.kernel.plugins, servers, problems, builtInSilenced: silenced }, undefined, 2))
    } else {
      console.log('Files')
      for (const { path, present } of files) console.log(`  ${present ? '✓' : '·'} ${path}`)
      console.log(`Plugins\n  ${tapline.kernel.plugins.join(', ')}`)
      console.log('Servers')
      for (const server of servers) {
        console.log(`  ${server.name}: ${server.state}, ${server.tools.length} tools, from ${server.source}`)
        if (server.error) console.log(`    ${server.error.replaceAll('\n', '\n    ')}`)
        if (server.attention) console.log(`    What to do: ${server.attention}`)
      }
      if (servers.length === 0) console.log('  none configured')
      console.log(problems.length === 0 ? 'Problems\n  none' : `Problems\n  ${problems.join('\n  ')}`)
      console.log(
        silenced
          ? `pi's built-in MCP support is silenced by "${SILENCE}" in its settings; "tapline doctor --undo" takes that back.`
          : "pi's built-in MCP support is not silenced in its settings; pi warns at each start while Tapline replaces it.",
      )
    }
    return problems.length === 0 && servers.every(({ state }) => state === 'connected' || state === 'disabled') ? 0 : 1
  } finally {
    await tapline.close()
  }
}

function filesOf({ paths }: CommandContext): string[] {
  return [
    join(paths.agentDir, 'mcp.json'),
    join(paths.loopsDir, 'mcp.toml'),
    ...SETTINGS_FILES.map((name) => join(paths.agentDir, name)).filter((path) => existsSync(path)),
    join(paths.cwd, '.pi', 'mcp.json'),
    join(paths.cwd, '.pi', 'mcp.toml'),
    ...SETTINGS_FILES.map((name) => join(paths.cwd, '.pi', name)).filter((path) => existsSync(path)),
  ]
}

import type { ConfigContext, Diagnostic, ServerSpec } from '@tapline/core'
import { readEntry, keyOf } from './entry.ts'
import { loadSchema } from './schema.ts'
import { createVoice } from './voice.ts'

/** Reads what other extensions registered. Every configured server of that name goes before. */
export async function readRegistered(
  context: ConfigContext,
  configured: readonly ServerSpec[],
): Promise<{ readonly servers: readonly ServerSpec[]; readonly diagnostics: readonly Diagnostic[] }> {
  const holders = new Map(configured.map((server) => [keyOf(server.name), server]))
  const servers: ServerSpec[] = []
  const diagnostics: Diagnostic[] = []
  const voice = createVoice(diagnostics)
  const schema = await loadSchema()
  for (const { name, config, by } of context.registered) {
    const source = { label: by, scope: 'session' } as const
    const { cwd, home } = context
    const { spec, errors, warnings } = readEntry(name, config, {
      dialect: 'registered',
      source,
      cwd,
      home,
      schema,
    })
    const origin = ` (registered by ${by})`
    for (const { message, field } of warnings) voice.warn(name, { message: `${message}${origin}`, field })
    if (!spec) {
      voice.fail(name, errors, origin)
      continue
    }
    const holder = holders.get(keyOf(name))
    if (holder) {
      diagnostics.push(overridden(spec, holder))
      continue
    }
    holders.set(keyOf(name), spec)
    servers.push(spec)
  }
  return { servers, diagnostics }
}

/** What is said of a server whose name another one has. */
export function overridden(loser: ServerSpec, holder: ServerSpec): Diagnostic {
  const { label, path, line } = loser.source
  return {
    severity: loser.dialect === 'registered' ? 'info' : 'warning',
    message: `mcp server '${loser.name}' of ${label} is not used: '${holder.name}' of ${holder.source.label} goes before it`,
    server: loser.name,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
  }
}

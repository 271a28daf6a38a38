import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { type Exposure, messageOf } from '@tapline/core'
import type { ServerChange, Tapline } from '@tapline/headless'
import { EXPOSURES } from '../servers/exposures.ts'
import { changeServer } from '../servers/operations.ts'
import type { Action, CommandScope, Completions } from './command.ts'

/** `/mcp enable|disable <server> [project]` and `/mcp exposure <server> <exposure> [project]`: saved in the files. */
export const CHANGES: Readonly<Record<string, Action>> = {
  enable: (rest, ctx, scope) => change('enable', words(rest), { enabled: true }, ctx, scope),
  disable: (rest, ctx, scope) => change('disable', words(rest), { enabled: false }, ctx, scope),
  exposure: (rest, ctx, scope) => {
    const [server, exposure = '', ...more] = words(rest)
    if (server === undefined || !Object.hasOwn(EXPOSURES, exposure)) return usage('exposure', ctx)
    return change('exposure', [server, ...more], { exposure: exposure as Exposure }, ctx, scope)
  },
}

/** What may follow `action`: a server, its exposure, and `project`. */
export function completeChange(
  action: string,
  typed: readonly string[],
  tapline: Tapline | undefined,
): Completions {
  const steps: readonly Completions[] = [
    (tapline?.servers ?? [])
      .filter(({ spec }) => action === 'exposure' || spec.enabled === (action === 'disable'))
      .map((server) => ({
        value: server.spec.name,
        label: server.spec.name,
        description: `${server.spec.enabled ? server.session.status.state : 'disabled'} · ${server.spec.exposure}`,
      })),
    ...(action === 'exposure'
      ? [Object.entries(EXPOSURES).map(([value, description]) => ({ value, label: value, description }))]
      : []),
    [{ value: 'project', label: 'project', description: 'in this project alone' }],
  ]
  const last = typed.at(-1) ?? ''
  const fitting = (steps[typed.length - 1] ?? []).filter(({ value }) => value.startsWith(last))
  // Enter would only complete what is complete already.
  if (fitting.length === 0 || fitting.some(({ value }) => value === last)) return null
  const before = [action, ...typed.slice(0, -1)].join(' ')
  return fitting.map((item) => ({ ...item, value: `${before} ${item.value}` }))
}

async function change(
  action: string,
  [name, where, ...more]: readonly string[],
  wanted: ServerChange,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  if (name === undefined || more.length > 0 || (where !== undefined && where !== 'project'))
    return usage(action, ctx)
  try {
    ctx.ui.notify(await changeServer(name, wanted, where === 'project' ? 'project' : 'here', scope), 'info')
  } catch (thrown) {
    ctx.ui.notify(messageOf(thrown), 'warning')
  }
}

function usage(action: string, ctx: ExtensionCommandContext): void {
  const exposure = action === 'exposure' ? ` <${Object.keys(EXPOSURES).join('|')}>` : ''
  ctx.ui.notify(`usage: /mcp ${action} <server>${exposure} [project]`, 'warning')
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean)
}

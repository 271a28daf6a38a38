import { resolve } from 'node:path'
import type { ChangeScope, Server, ServerChange } from '@tapline/headless'
import { changeServer } from './operations.ts'
import type { Panel } from './page.ts'
import { pathText } from './words.ts'

/** Where a change is saved, as a person is told before. */
export function savedText({ spec }: Server, where: ChangeScope, { scope }: Panel): string {
  const { source } = spec
  if (source.scope === 'session') return 'for this session'
  const path = where === 'project' ? projectFile(scope.paths.cwd) : (source.override ?? source.path)
  return path === undefined ? 'where it is defined' : `saved in ${pathText(path, scope.paths)}`
}

/** Whether a change can be made for this project alone, beside where it is made otherwise. */
export function hasProjectScope({ spec }: Server, { isProjectTrusted, scope }: Panel): boolean {
  const { source, dialect } = spec
  return (
    isProjectTrusted &&
    dialect === 'mcp.json' &&
    source.scope === 'user' &&
    source.override === undefined &&
    source.path !== projectFile(scope.paths.cwd)
  )
}

/** Begins to make a change. */
export function beginChange(panel: Panel, name: string, wanted: ServerChange, where: ChangeScope): void {
  panel.work.begin(name, doingText(name, wanted), () => changeServer(name, wanted, where, panel.scope))
}

function doingText(name: string, { enabled, exposure }: ServerChange): string {
  if (enabled === undefined) return `Changing the exposure of "${name}" to ${exposure}…`
  return `${enabled ? 'Enabling' : 'Disabling'} "${name}"…`
}

function projectFile(cwd: string): string {
  return resolve(cwd, '.pi', 'mcp.json')
}

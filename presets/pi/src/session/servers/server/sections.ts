import type { Server } from '@tapline/headless'
import { createConnectionPage } from '../connection/page.ts'
import { createLogPage } from '../log/page.ts'
import type { Page, Panel } from '../page.ts'
import { createPromptsPage } from '../prompts/page.ts'
import { createPushesPage } from '../pushes/page.ts'
import { createResourcesPage } from '../resources/page.ts'
import { createToolsPage } from '../tools/page.ts'
import { ago, count, said } from '../words.ts'
import { createStderrPage } from './stderr.ts'

/** A page about one side of a server. */
export interface Section {
  /** The letter that opens it. */
  readonly key: string
  readonly label: string
  /** What is in it, in a few words. */
  readonly detail: string
  open(): Page
}

/** What there is to see of a server as it stands now. */
export function sectionsOf(panel: Panel, server: Server): readonly Section[] {
  const { spec, session } = server
  const { capabilities, report } = session.status
  const { name } = spec
  const prompts = panel.scope.tapline.services.prompts?.book.listingOf(name)
  const isConnected = session.status.state === 'connected'
  return [
    {
      key: 't',
      label: 'Tools',
      detail: toolsDetail(panel, server),
      open: () => createToolsPage(panel, name),
    },
    ...(isConnected && capabilities?.['resources'] !== undefined
      ? [
          {
            key: 'u',
            label: 'Resources',
            detail: 'listed when you open it',
            open: () => createResourcesPage(panel, server),
          },
        ]
      : []),
    ...(prompts !== undefined || (isConnected && capabilities?.['prompts'] !== undefined)
      ? [
          {
            key: 'p',
            label: 'Prompts',
            detail: promptsDetail(panel, name),
            open: () => createPromptsPage(panel, name),
          },
        ]
      : []),
    {
      key: 'n',
      label: 'Pushes',
      detail: pushesDetail(panel, name),
      open: () => createPushesPage(panel, name),
    },
    {
      key: 'c',
      label: 'Connection',
      detail: connectionDetail(server),
      open: () => createConnectionPage(panel, name),
    },
    ...(spec.transport.type === 'stdio' || report.stderrTail !== undefined
      ? [
          {
            key: 'e',
            label: 'Stderr',
            detail: report.lastStderr ?? 'nothing was written',
            open: () => createStderrPage(panel, name),
          },
        ]
      : []),
    { key: 'l', label: 'Log', detail: 'what it logs, as it comes', open: () => createLogPage(panel, name) },
  ]
}

function toolsDetail({ scope }: Panel, { spec, listed }: Server): string {
  const offered = scope.tapline.catalogue.listingOf(spec.name)?.tools.length
  if (offered === undefined) return spec.enabled ? 'not known yet' : 'none while it is disabled'
  const exposed = scope.toolbox.toolsOf(spec.name).length
  const parts = [
    `${offered} offered`,
    ...(exposed < offered ? [`${exposed} usable`] : []),
    ...(listed ? [] : ['as of an earlier session']),
  ]
  return parts.join(', ')
}

function promptsDetail({ scope }: Panel, name: string): string {
  const { prompts } = scope.tapline.services
  if (!prompts) return 'the plugin "prompts" is not loaded'
  const { book } = prompts
  const offered = book.listingOf(name)?.prompts.length
  if (offered !== undefined) return `${offered} offered, as commands`
  return book.failureOf(name) === undefined ? 'not known yet' : 'could not be listed'
}

function pushesDetail({ scope }: Panel, name: string): string {
  const { counts, lastEventAt } = scope.tapline.pipeline.book(name)
  if (counts.received === 0) return 'none since the start'
  const ends = (['delivered', 'redirected', 'deduped', 'collapsed', 'dropped', 'pending'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
  return `${count(counts.received, 'push', 'pushes')}, last ${ago(lastEventAt ?? NaN, Date.now())}: ${ends.join(', ')}`
}

function connectionDetail({ session }: Server): string {
  const { protocolVersion, era, report, serverInfo } = session.status
  const parts = [
    ...(protocolVersion === undefined ? [] : [`${protocolVersion} (${era})`]),
    ...(report.pushStream === undefined ? [] : [`push stream ${report.pushStream}`]),
    ...(serverInfo === undefined ? [] : [said(`${serverInfo.name} ${serverInfo.version}`, 200)]),
  ]
  return parts.join(', ') || 'not connected'
}

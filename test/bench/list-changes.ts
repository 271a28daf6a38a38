import { createTapline, pathsFor, trustStore } from '@tapline/headless'
import { createScratch } from '../drivers/scratch.ts'
import { waitUntil } from '../drivers/processes.ts'
import { SERVER } from './subjects/subject.ts'

/** What 200 list changes in one burst cost. */
export interface ListChanges {
  readonly changes: number
  /** `tools/list` requests after the first list of the session. The design asks for at most 2. */
  readonly refetches: number
}

const CHANGES = 200

/** Counts the refetches of a burst of list changes. */
export async function listChanges(): Promise<ListChanges> {
  await using scratch = createScratch()
  const [command, ...args] = SERVER
  scratch.write('agent/mcp.json', { mcpServers: { bench: { command, args } } })
  const env = { ...process.env, HOME: scratch.home, PI_CODING_AGENT_DIR: scratch.agent }
  const paths = pathsFor(env, scratch.project)
  const tapline = await createTapline({
    paths,
    env,
    info: { name: 'bench', version: '1' },
    mode: 'headless',
    pushes: 'deliver',
    projectTrusted: false,
    trust: trustStore(paths.agentDir),
    registered: () => [],
    onDiagnostic: ({ message }) => console.error(message),
  })
  tapline.start()
  const [server] = tapline.servers
  if (!server) throw new Error('no server')
  await server.settled()
  const lists = async (): Promise<number> => {
    const { content } = await server.session.callTool('lists', {})
    return Number(content[0]?.type === 'text' ? content[0].text : NaN)
  }
  const before = await lists()
  await server.session.callTool('burst', { count: CHANGES, method: 'notifications/tools/list_changed' })
  await waitUntil(
    async () => (await lists()) > before,
    10_000,
    () => 'a refetch',
  )
  // A second refetch may follow; a third must not.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const refetches = (await lists()) - before
  await tapline.close()
  return { changes: CHANGES, refetches }
}

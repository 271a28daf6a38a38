// Says that a session is there, until it is killed: present.ts <root> <cwd> [session id]
import { join } from 'node:path'
import { joinWindows } from '../../src/state/windows.ts'

const [home = '', cwd = '', sessionId] = process.argv.slice(2)
const agentDir = join(home, 'agent')
joinWindows({
  paths: { home, cwd, agentDir, loopsDir: join(agentDir, 'loops') },
  kind: 'interactive',
  ...(sessionId === undefined ? {} : { sessionId }),
})
console.log('present')
setInterval(() => undefined, 60_000)

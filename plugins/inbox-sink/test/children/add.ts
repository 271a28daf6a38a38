// Adds one finding and claims another, and prints what came of it: add.ts <loops dir> <text> <id>
import { createProjects, files } from '@tapline/core'
import { openInbox } from '../../src/index.ts'

// A file that may not grow is an error of the write, and not the end of the process.
process.on('SIGXFSZ', () => undefined)
const [loopsDir = '', text = '', id = ''] = process.argv.slice(2)
const inbox = openInbox({ files, loopsDir, projects: createProjects(loopsDir) })
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (thrown: unknown) => (thrown as Error).message,
  )
const added = await outcomeOf(inbox.add({ source: 'trigger:mcp:hub', runId: 'cramped', cwd: '', text }))
const claimed = await outcomeOf(inbox.claim(id))
console.log(JSON.stringify({ added, claimed }))

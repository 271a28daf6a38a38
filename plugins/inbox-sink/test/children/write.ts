// Adds findings, and claims every third of its own, for so long: write.ts <loops dir> <name> <ms>
import { createProjects, files } from '@tapline/core'
import { openInbox } from '../../src/index.ts'

const [loopsDir = '', name = '', ms = '0'] = process.argv.slice(2)
const inbox = openInbox({ files, loopsDir, projects: createProjects(loopsDir) })
const end = Date.now() + Number(ms)
let count = 0
while (Date.now() < end) {
  const runId = `${name}-${count}`
  await inbox.add({
    source: `trigger:mcp:${name}`,
    runId,
    cwd: '',
    text: `${runId} ${'x'.repeat(count % 400)}`,
  })
  const own = count % 3 === 0 ? inbox.entries().find((entry) => entry.run_id === runId) : undefined
  if (own !== undefined && !(await inbox.claim(own.id, name)).done)
    throw new Error(`${runId} was not claimed`)
  count++
}
console.log(count)

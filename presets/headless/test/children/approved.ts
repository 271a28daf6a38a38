// Loads the approved plugins of a project after these files have changed: approved.ts <agent dir> <cwd> <file>...
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadNamedPlugins } from '../../src/plugins/named.ts'
import { readSettings } from '../../src/settings/files.ts'

const [agentDir = '', cwd = '', ...changed] = process.argv.slice(2)
const paths = { agentDir, cwd, home: agentDir, loopsDir: join(agentDir, 'loops') }
const { settings } = await readSettings(paths, { answer: () => true })
for (const file of changed)
  writeFileSync(file, `export default { name: 'other', api: 1, setup() {} }\nconsole.log('ran')`)
const { plugins, diagnostics } = await loadNamedPlugins(settings.plugins, agentDir)
console.log(JSON.stringify({ plugins, problems: diagnostics.map(({ message }) => message) }))

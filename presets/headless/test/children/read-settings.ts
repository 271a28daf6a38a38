// Reads the settings twice, with a change of tapline.ts between: read-settings.ts <agent dir> <cwd> <text>
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSettings } from '../../src/settings/files.ts'

const [agentDir = '', cwd = '', text = ''] = process.argv.slice(2)
const paths = { agentDir, cwd, home: agentDir, loopsDir: join(agentDir, 'loops') }
const read = async (): Promise<object> => {
  const { settings } = await readSettings(paths, { answer: () => undefined })
  return { naming: settings.naming, problems: settings.diagnostics.map(({ message }) => message) }
}
const first = await read()
writeFileSync(join(agentDir, 'tapline.ts'), text)
console.log(JSON.stringify([first, await read()]))

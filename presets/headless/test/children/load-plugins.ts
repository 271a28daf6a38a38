// Loads named plugins and prints what came of it: load-plugins.ts <agent dir> <settings file> <name>...
import { loadNamedPlugins } from '../../src/plugins/named.ts'

const [agentDir = '', from = '', ...names] = process.argv.slice(2)
const { plugins, diagnostics } = await loadNamedPlugins(
  names.map((name) => ({ name, from })),
  agentDir,
)
console.log(JSON.stringify({ plugins, problems: diagnostics.map(({ message }) => message) }))

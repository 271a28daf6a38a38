#!/usr/bin/env node
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`tapline needs Node 22.19 or later; this is ${process.versions.node}.`)
  process.exit(2)
}
// What Node has compiled is kept for the next time, where pi keeps it too.
module.enableCompileCache?.()
const { main } = await import('../src/cli/main.ts')
export const exitCode = await main(process.argv.slice(2))
process.exitCode = exitCode

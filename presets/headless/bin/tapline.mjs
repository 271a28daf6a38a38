#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`tapline needs Node 22.19 or later; this is ${process.versions.node}.`)
  process.exit(2)
}
const { main } = await import('../src/cli/main.ts')
export const exitCode = await main(process.argv.slice(2))
process.exitCode = exitCode

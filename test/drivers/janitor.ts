// Spawned by `testRoot`: waits for the test process to end, however it does, then ends what it left running
// below the directory named by the argument, and removes the directory.
import { rmSync } from 'node:fs'
import { killQuietly, processesNaming } from './processes.ts'

const root = process.argv[2] ?? ''
process.stdin.resume().on('close', () => {
  for (const { pid } of processesNaming(root)) killQuietly(pid)
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
})

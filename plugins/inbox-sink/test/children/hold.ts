// Takes the inbox's lock and never gives it back: hold.ts <loops dir>
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { files } from '@tapline/core'

const [loopsDir = ''] = process.argv.slice(2)
await files.locked(
  join(loopsDir, 'inbox.jsonl'),
  () => {
    writeSync(1, 'locked\n')
    // Blocked, as a process is that hangs: not even the lock is kept fresh.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
  join(loopsDir, 'inbox.lock'),
)

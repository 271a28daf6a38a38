// Takes the lock of a file and never gives it back: hold.ts <path>
import { writeSync } from 'node:fs'
import { withLock } from '@tapline/core'

await withLock(process.argv[2] ?? '', () => {
  writeSync(1, 'locked\n')
  // Blocked, as a process is that hangs: not even the lock is kept fresh.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})

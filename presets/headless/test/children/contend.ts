// Takes the lock of one file after the other, as soon as the file is there; prints those that it was not alone in:
// contend.ts <directory> <files>
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { withLock } from '@tapline/core'

const [directory = '', files = '0'] = process.argv.slice(2)
for (let n = 0; n < Number(files); n++) {
  const path = join(directory, `${n}`)
  console.log(`at ${n}`)
  while (!existsSync(path)) await turn()
  await withLock(path, async () => {
    const inside = `${path}.inside`
    try {
      mkdirSync(inside)
    } catch {
      return console.log(`not alone in ${n}`)
    }
    await sleep(2)
    rmdirSync(inside)
  })
}

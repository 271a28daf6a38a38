/** A window of its own process that takes itself for the owner of every job. It prints the key of each event. */
import { testKernel } from '@tapline/core/testing'
import { cron } from '../../src/index.ts'

const [loopsDir = ''] = process.argv.slice(2)
const { dispose } = await testKernel(cron(), {
  host: {
    paths: { cwd: '/project', home: '/home', agentDir: '/nowhere', loopsDir },
    admit: ({ key }) => void process.stdout.write(`${key}\n`),
  },
})
process.stdout.write('ready\n')
process.stdin.resume().on('end', () => void dispose())

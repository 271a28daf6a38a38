/**
 * Measures one subject in a process of its own and prints one JSON line.
 *   node measure.ts <subject> <burst|calls|frame>
 */
import { piMcp } from './subjects/pi-mcp.ts'
import { raw } from './subjects/raw.ts'
import { sdk } from './subjects/sdk.ts'
import { METHOD, type Subject } from './subjects/subject.ts'
import { taplinePipeline, taplineTap } from './subjects/tapline.ts'

const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  raw,
  piMcp,
  sdk,
  taplineTap,
  taplinePipeline,
}
const EVENTS = 10_000
const WARM_EVENTS = 1_000
const CALLS = 2_000
const FRAME_BYTES = 9_000_000

const [name = '', what = ''] = process.argv.slice(2)
const subject = await (SUBJECTS[name] as () => Promise<Subject>)()
const arrived = async (count: number): Promise<void> => {
  while (subject.received() < count) await new Promise((resolve) => setImmediate(resolve))
}
// Warm, every subject alike: what is paid once a session is no part of what an event or a call costs.
for (let n = 0; n < 50; n++) await subject.call('echo', {})
await subject.call('burst', { count: WARM_EVENTS, method: METHOD })
await arrived(WARM_EVENTS)
const work: Readonly<Record<string, () => Promise<void>>> = {
  burst: async () => {
    await subject.call('burst', { count: EVENTS, method: METHOD, from: WARM_EVENTS })
    await arrived(WARM_EVENTS + EVENTS)
  },
  calls: async () => {
    for (let n = 0; n < CALLS; n++) await subject.call('echo', {})
  },
  frame: async () => {
    const result = (await subject.call('big', { bytes: FRAME_BYTES })) as { content: { text: string }[] }
    if (result.content[0]?.text.length !== FRAME_BYTES) throw new Error('the frame did not arrive whole')
  },
}
const cpu = process.cpuUsage()
const start = performance.now()
await (work[what] as () => Promise<void>)()
const wallMs = performance.now() - start
const used = process.cpuUsage(cpu)
console.log(JSON.stringify({ wallMs, cpuMs: (used.user + used.system) / 1000, received: subject.received() }))
await subject.close()
process.exit(0)

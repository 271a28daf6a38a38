// An extension that writes down how much processor time pi's main thread has used when its first prompt is begun, in
// milliseconds: JSON, in the file that MARKS names.
import { writeFileSync } from 'node:fs'

const processorMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

export default function marks(pi) {
  const taken = {}
  pi.on('before_agent_start', () => {
    taken.startedMs ??= processorMs()
  })
  pi.on('session_shutdown', () => writeFileSync(process.env.MARKS, JSON.stringify(taken)))
}

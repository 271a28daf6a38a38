// An extension that measures how long the event loop stands still from the start of the session on. `/longest`
// answers the longest time between two of its turns, in milliseconds as JSON: by the clock, and in processor time.
let timer

export default function probe(pi) {
  const longest = { wallMs: 0, cpuMs: 0 }
  const processorMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  pi.on('session_start', () => {
    let [wall, cpu] = [performance.now(), processorMs()]
    clearInterval(timer)
    timer = setInterval(() => {
      const [wallNow, cpuNow] = [performance.now(), processorMs()]
      longest.wallMs = Math.max(longest.wallMs, wallNow - wall)
      longest.cpuMs = Math.max(longest.cpuMs, cpuNow - cpu)
      ;[wall, cpu] = [wallNow, cpuNow]
    }, 1)
  })
  pi.registerCommand('longest', {
    handler: async (_args, ctx) => {
      const tools = pi.getAllTools().filter(({ name }) => name.startsWith('mcp__many__')).length
      ctx.ui.notify(JSON.stringify({ ...longest, tools }), 'info')
    },
  })
  pi.on('session_shutdown', () => clearInterval(timer))
}

// A preset of your own: your list of plugins, and what pushes become. This one prints what the servers of pi's mcp.json
// push, a line each. It has no chat, inbox, rules and clock, because it does not load them: node examples/own-preset.mjs
import { homedir } from 'node:os'
import { join } from 'node:path'
import { configPi } from '@tapline/config-pi'
import { createKernel, createPipeline, createProjects, createSession, files, loadSdk } from '@tapline/core'
import { stdio } from '@tapline/stdio'
import { streamableHttp } from '@tapline/streamable-http'
import { triggers } from '@tapline/triggers'

const info = { name: 'own-preset', version: '0.1.0' }
const { env } = process
const home = homedir()
const agentDir = env.PI_CODING_AGENT_DIR ?? join(home, '.pi', 'agent')
const paths = { cwd: process.cwd(), home, agentDir, loopsDir: join(agentDir, 'loops') }
const complain = (words) => console.error(String(words))

/** Where everything goes. */
const printer = {
  name: 'printer',
  api: 1,
  setup({ hooks }) {
    hooks.deliver.sink('print').tap({}, ({ server, method, summary }) => {
      console.log(`${server}: ${summary || method}`)
      return { sink: 'print' }
    })
  },
}

const projects = createProjects(home)
const host = { ...info, mode: 'headless', paths, projects, env, files, delivers: true }
const plugins = [configPi(), stdio(), streamableHttp(), triggers(), printer]
const kernel = await createKernel({ plugins, host, report: complain })
const pipeline = createPipeline({ kernel, policyFor: () => 'print' })

// A project's files are used when somebody has said that they may be: here nobody is asked.
const trust = { projectTrusted: false, trustOf: () => undefined, registered: [] }
const nothing = { servers: [], diagnostics: [], questions: [] }
const context = { ...paths, ...trust, env, signal: AbortSignal.timeout(30_000) }
const { servers, diagnostics } = await kernel.hooks.config.promise(nothing, context)
for (const { message } of diagnostics) complain(message)

const sessions = servers
  .filter(({ enabled }) => enabled)
  .map((server) => {
    const transportFor = (request) => kernel.hooks.connect.promise(request)
    const onNotification = (frame) => pipeline.receive(server.name, frame)
    const onStatus = ({ state }) => complain(`${server.name}: ${state}`)
    const onError = (error) => complain(`${server.name}: ${error}`)
    const told = { onNotification, onStatus, onError, onCatalogueStale() {} }
    return createSession({ server, info, cwd: paths.cwd, sdk: loadSdk, transportFor, ...told })
  })
for (const session of sessions) session.start()

async function end() {
  await Promise.all([...sessions.map((session) => session.close()), pipeline.close()])
  await kernel.dispose()
}
process.once('SIGINT', () => void end())

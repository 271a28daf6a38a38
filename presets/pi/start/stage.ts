import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { textOf } from '../../../test/drivers/chat.ts'
import type { ReceivedRequest } from '../../../test/drivers/chat.ts'
import { type FakeModel, startFakeModel, type Turn } from '../../../test/drivers/fake-model.ts'
import { servers } from '../../../test/drivers/fixtures.ts'
import { exitOf } from '../../../test/drivers/processes.ts'
import { createScratch, type Scratch } from '../../../test/drivers/scratch.ts'
import { markedEnv } from '../../../test/drivers/test-root.ts'

/** How often the example server pushes, in milliseconds. */
export const BEAT_MS = 2_000

/** The tool that the model calls, by the name that pi knows it under. */
export const ECHO_TOOL = 'mcp__everything__echo'

/** Everything that the story needs around pi. */
export interface Stage {
  readonly scratch: Scratch
  readonly model: FakeModel
  /** What pi's settings must say for Tapline to be loaded from this checkout. */
  readonly settings: Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** Starts the model and the HTTP server, and writes the configuration of the two MCP servers. */
export async function setStage(): Promise<Stage> {
  const scratch = createScratch({ tmp: 'shared' })
  const model = await startFakeModel({ otherwise: answer })
  const everything = await startEverything()
  scratch.write('agent/mcp.json', {
    mcpServers: {
      everything: { url: everything.url, exposure: 'direct', description: 'The reference server of MCP' },
    },
  })
  scratch.write(
    'agent/loops/mcp.toml',
    [
      '[[server]]',
      'name = "notify"',
      `command = ${JSON.stringify(process.execPath)}`,
      `args = ${JSON.stringify([servers.notify, '--every', String(BEAT_MS)])}`,
      'inject_summary = true',
      '',
    ].join('\n'),
  )
  return {
    scratch,
    model,
    settings: { packages: [resolve(import.meta.dirname, '../../..')] },
    close: async () => {
      await everything.close()
      await model.close()
      await scratch.dispose()
    },
  }
}

/** What the scripted model says: it calls a tool when it is asked to, and reports what the tool said. */
function answer({ body }: ReceivedRequest): Turn {
  const last = body.messages.at(-1)
  const text = textOf(last?.content)
  if (last?.role === 'tool') return { text: `The tool answered: ${text}`, chunkDelayMs: 20 }
  const echo = /echo\W+(.*)/i.exec(text)
  if (echo) return { toolCalls: [{ name: ECHO_TOOL, args: { message: echo[1] || 'hello' } }] }
  if (/status/i.test(text)) return { toolCalls: [{ name: 'demo_status' }] }
  return {
    text:
      'I am a small scripted model. Ask me to "echo hello" and I call a tool of the HTTP server; ' +
      'ask for the "status" and I call a tool of the push server. Its pushes arrive in this chat by themselves.',
    chunkDelayMs: 10,
  }
}

async function startEverything(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const port = await freePort()
  const child = spawn(process.execPath, [servers.everything, 'streamableHttp'], {
    env: { ...process.env, ...markedEnv(), PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = exitOf(child)
  let stderr = ''
  await new Promise<void>((ready, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      if (stderr.includes(String(port))) ready()
    })
    void exited.then(() => reject(new Error(`server-everything did not start: ${stderr}`)))
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

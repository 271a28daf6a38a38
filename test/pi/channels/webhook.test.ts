import { spawn } from 'node:child_process'
import { connect, createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../drivers/chat.ts'
import { exitOf, waitUntil, within } from '../../drivers/processes.ts'
import { connected, createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { consented, consenting, settled, SPEAK, tagsIn } from './channel.ts'

const SERVER = fileURLToPath(new URL('../../../examples/webhook-channel/server.mjs', import.meta.url))
const ALICE = 'token-of-alice-0123456789'
const BOB = 'token-of-bob-0123456789'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const as = (token: string) => ({ authorization: `Bearer ${token}` })

/** The example in a pi that lets it speak. */
async function openWebhook(stage: Stage) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = { WEBHOOK_CHANNEL_TOKENS: `alice:${ALICE}, bob:${BOB}`, WEBHOOK_CHANNEL_PORT: String(port) }
  stage.json({
    hook: { command: process.execPath, args: [SERVER], env, channel: true, exposure: 'direct' },
  })
  const pi = await stage.start({ onUi: consenting(SPEAK) })
  await connected(pi, 'hook')
  await consented(stage, 'hook')
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}/messages`, { method: 'POST', body, headers })
  await waitUntil(
    () =>
      post('').then(
        () => true,
        () => false,
      ),
    PATIENCE_MS,
    'the webhook to listen',
  )
  return { pi, origin, post }
}

describe('the example webhook channel in the real pi', () => {
  it('hands a posted text to the model, and its answer to the event stream of the sender', async () => {
    await using stage = await createStage()
    const { pi, origin, post } = await openWebhook(stage)
    const events = await fetch(`${origin}/events`, { headers: as(ALICE) })
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
    const reply = (text: string) => ({
      toolCalls: [{ name: 'mcp__hook__reply', args: { chat_id: 'alice', text } }],
    })
    stage.model.script([reply('All green.'), { text: 'Answered.' }])
    const posted = await post('Is the build green?', as(ALICE))
    expect([posted.status, await posted.json()]).toEqual([202, { message_id: expect.any(String) }])
    const [first, second] = await settled(stage, pi, 2)
    expect(tagsIn(first!)).toEqual([
      expect.stringMatching(
        /^<channel source="hook" chat_id="alice" user="alice" message_id="[\w-]+" ts="[^"]+">Is the build green\?<\/channel>$/,
      ),
    ])
    expect(textOf(second!.body.messages.at(-1)!.content)).toBe('sent')
    const { value } = await within(reader.read(), PATIENCE_MS, () => 'the answer')
    expect(value).toBe('data: {"text":"All green."}\n\n')
    await reader.cancel()
  })

  it('lets nobody in without a token, and keeps an answer until its reader is there', async () => {
    await using stage = await createStage()
    const { pi, origin, post } = await openWebhook(stage)
    for (const headers of [{}, as('guess'), as(`${ALICE}x`), { authorization: '' }])
      expect((await post('rm -rf /', headers)).status).toBe(401)
    expect((await fetch(`${origin}/events`)).status).toBe(401)
    expect((await post('x'.repeat(70_000), as(BOB))).status).toBe(413)
    expect((await post('  ', as(BOB))).status).toBe(400)
    expect((await fetch(`${origin}/other`, { headers: as(BOB) })).status).toBe(404)
    expect(stage.model.requests()).toEqual([])
    const call = (args: object) => ({ toolCalls: [{ name: 'mcp__hook__reply', args }] })
    stage.model.script([
      call({ chat_id: 'mallory', text: 'x' }),
      call({ chat_id: 'bob', text: 'Later.' }),
      { text: 'Answered.' },
    ])
    await post('Hello', as(BOB))
    const requests = await settled(stage, pi, 3)
    const answers = requests.slice(1).map(({ body }) => textOf(body.messages.at(-1)!.content))
    expect(answers).toEqual(['nobody is called mallory; there are: alice, bob', 'kept until bob listens'])
    const events = await fetch(`${origin}/events`, { headers: as(BOB) })
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await within(reader.read(), PATIENCE_MS, () => 'what was kept')).value).toBe(
      'data: {"text":"Later."}\n\n',
    )
    await reader.cancel()
  })
})

describe('the example webhook channel by itself', () => {
  /** Sends bytes and hangs up; answers what came back until then. */
  const say = (port: number, text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(text))
      let said = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
      socket.on('error', reject).on('close', () => resolve(said))
    })

  it('outlives whatever is sent to its port', async () => {
    const port = await freePort()
    const env = { WEBHOOK_CHANNEL_TOKENS: `alice:${ALICE}`, WEBHOOK_CHANNEL_PORT: String(port) }
    const child = spawn(process.execPath, [SERVER], { env: { ...process.env, ...env }, stdio: 'pipe' })
    const exited = exitOf(child)
    let said = ''
    let sent = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.stdout.setEncoding('utf8').on('data', (text: string) => (sent += text))
    await waitUntil(
      () => said.includes(`http://127.0.0.1:${port}`),
      PATIENCE_MS,
      () => `it to listen: ${said}`,
    )
    // An address that is none, with no token; a sender who hangs up in the middle of a message.
    expect(await say(port, 'GET // HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 401 /)
    await say(
      port,
      `POST /messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ALICE}\r\ncontent-length: 100\r\n\r\nhalf`,
    )
    await say(port, 'what is this?\r\n\r\n')
    const posted = await fetch(`http://127.0.0.1:${port}/messages?now`, {
      method: 'POST',
      headers: as(ALICE),
      body: 'Still there?',
    })
    expect(posted.status).toBe(202)
    await waitUntil(
      () => sent.includes('"content":"Still there?"'),
      PATIENCE_MS,
      () => `the message: ${sent}`,
    )
    expect(sent).not.toContain('half')
    child.stdin.end()
    expect(await within(exited, PATIENCE_MS, () => 'its end')).toMatchObject({ code: 0 })
  })
})

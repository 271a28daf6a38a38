import { toolNames, transcript } from '../../../test/drivers/chat.ts'
import { type PiEvent, startPi } from '../../../test/drivers/pi.ts'
import { waitUntil } from '../../../test/drivers/processes.ts'
import { ECHO_TOOL, type Stage } from './stage.ts'

const WAIT_MS = 40_000

/** Plays the story over RPC and prints what happened; answers 0 when all of it did. */
export async function playStory({ scratch, model, settings }: Stage): Promise<number> {
  const started = performance.now()
  const say = (line: string): void =>
    console.log(`[${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s] ${line}`)
  const pi = await startPi({ scratch, model, settings })
  try {
    say('pi has started with Tapline in place of its built-in MCP support.')
    await waitUntil(
      async () => connected(await pi.command('/mcp')),
      WAIT_MS,
      () => 'both servers to connect',
    )
    say('Both servers are connected:')
    for (const line of (await pi.command('/mcp')).join('\n').split('\n').slice(1)) say(`  ${line}`)

    await pi.prompt('Please echo: hello from the model')
    const [asked, answered] = model.requests().slice(-2)
    if (!asked || !toolNames(asked).includes(ECHO_TOOL))
      throw new Error(`The model was not offered ${ECHO_TOOL}.`)
    if (!answered || !transcript(answered).includes('Echo: hello from the model'))
      throw new Error('The tool’s answer did not reach the model.')
    say(`The model called ${ECHO_TOOL} and was answered: "Echo: hello from the model".`)

    const requests = model.requests().length
    const pushes = await waitUntil(
      () => atLeast(pushesIn(pi.events), 2),
      WAIT_MS,
      () => 'two pushes in the chat',
    )
    for (const push of pushes) say(`A push arrived in the chat: ${push}`)
    if (model.requests().length !== requests)
      throw new Error('A push cost a model call, though it should only be shown.')

    const [sources = ''] = await pi.command('/triggers sources')
    for (const line of sources.split('\n')) say(line)
    const received = [...sources.matchAll(/received=(\d+) = delivered=\1 /g)].map(([, count]) =>
      Number(count),
    )
    if (received.length < 2 || Math.max(...received) < 2)
      throw new Error('The books do not say that every push was delivered.')
    say(`All of it happened: ${pushes.length} pushes shown, ${model.requests().length} model calls.`)
    return 0
  } catch (thrown) {
    say(`It did not all happen: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    if (pi.stderr.trim()) say(`pi said: ${pi.stderr.trim()}`)
    return 1
  } finally {
    await pi.close()
  }
}

function connected(notices: readonly string[]): boolean {
  const text = notices.join('\n')
  return /notify: connected · \d+ tools?/.test(text) && /everything: connected · [1-9]\d* tools/.test(text)
}

function pushesIn(events: readonly PiEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'message_end' && event['message']?.customType === 'tapline:push'
      ? [String(event['message'].content)]
      : [],
  )
}

function atLeast<T>(items: T[], count: number): T[] | undefined {
  return items.length >= count ? items : undefined
}

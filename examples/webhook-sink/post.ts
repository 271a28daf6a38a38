import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from './target.ts'

/** A sink has ten seconds; what is not posted by then is the inbox's. */
const ALL_MS = 8_000
const ONE_MS = 3_000
const FIRST_PAUSE_MS = 250

/** Posts a body until it is taken. Throws why it was not: after eight seconds, or at once when it was refused. */
export async function post(target: Target, id: string, body: string, signal: AbortSignal): Promise<void> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(ALL_MS)])
  let answer = ''
  for (let attempt = 1, pause = FIRST_PAUSE_MS; ; attempt++, pause *= 2) {
    answer = await tryOnce(target, id, body, until)
    if (answer === 'taken') return
    if (!until.aborted) await sleep(pause, undefined, { signal: until }).catch(() => undefined)
    if (until.aborted)
      throw new Error(
        `${target.url.host} did not take it in ${attempt} attempts; the last time it ${answer}.`,
      )
  }
}

/** Answers `taken` or what is worth another attempt; throws what is not. */
async function tryOnce(
  { url, secret }: Target,
  id: string,
  body: string,
  until: AbortSignal,
): Promise<string> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-tapline-id': id,
    'x-tapline-timestamp': timestamp,
    'x-tapline-signature': `sha256=${signature}`,
  }
  let response: Response
  try {
    const signal = AbortSignal.any([until, AbortSignal.timeout(ONE_MS)])
    response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal })
  } catch (thrown) {
    return (thrown as Error).name === 'TimeoutError' ? 'did not answer in time' : 'could not be reached'
  }
  // Whatever else it says, it need not say to us.
  response.body?.cancel().catch(() => undefined)
  if (response.ok) return 'taken'
  const isPassing = response.status >= 500 || response.status === 408 || response.status === 429
  if (!isPassing) throw new Error(`${url.host} refused it with status ${response.status}.`)
  return `answered ${response.status}`
}

/**
 * A program of its own, one process for one question: the binding to the keychain blocks the thread that asks, for
 * seconds when the keychain hangs and for as long as it shows a prompt, and a process can be ended. It reads a
 * {@link Question} as one line of JSON on standard input and answers with an {@link Answer} on standard output. When
 * standard input ends, so does it.
 */
import { createInterface } from 'node:readline'

/** What the keychain is asked. */
export interface Question {
  readonly service: string
  readonly account: string
  readonly action: 'read' | 'store' | 'remove'
  /** What `store` stores. */
  readonly secret?: string
}

/** Why the keychain could not answer: no words of the binding, which may quote what it was given. */
export type Failure = 'absent' | 'locked' | 'silent' | 'too long' | 'failed'

/** What came of a question. */
export type Answer =
  | { readonly failure: Failure }
  | { readonly secret: string | null }
  | { readonly removed: boolean }
  | { readonly stored: true }

// The main thread is free while the binding waits for a prompt; an orderly exit would wait with it.
const lines = createInterface({ input: process.stdin })
lines.once('close', () => process.kill(process.pid, 'SIGKILL'))
lines.once('line', (line) => {
  void answer(JSON.parse(line) as Question)
    .catch((thrown: unknown): Answer => ({ failure: failureOf(thrown) }))
    .then((said) => process.stdout.write(JSON.stringify(said), () => process.kill(process.pid, 'SIGKILL')))
})

async function answer({ service, account, action, secret }: Question): Promise<Answer> {
  const binding = await import('@napi-rs/keyring').catch(() => undefined)
  if (!binding) return { failure: 'absent' }
  // Without this, the kernel's keyring would stand in for the Secret Service, and forget everything at the next start.
  const entry = new binding.AsyncEntry(service, account, { linux: { store: 'secret-service' } })
  switch (action) {
    case 'read':
      return { secret: await entry.getPassword() }
    case 'store':
      await entry.setPassword(secret ?? '')
      return { stored: true }
    case 'remove':
      return { removed: await entry.deletePassword() }
  }
}

function failureOf(thrown: unknown): Failure {
  const message = thrown instanceof Error ? thrown.message : ''
  if (/did not receive a reply|timed? ?out/i.test(message)) return 'silent'
  if (/^Couldn't access platform storage/i.test(message)) return 'locked'
  if (/longer than/i.test(message)) return 'too long'
  // On Linux: no session bus, or nobody on it who answers to the name.
  if (/dbus error/i.test(message)) return 'absent'
  return 'failed'
}

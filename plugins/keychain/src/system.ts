import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { CredentialStore } from '@tapline/core'
import type { Answer, Failure, Question } from './keyring.ts'

/** The name of the service under which Tapline's credentials are kept; the account is the reference. */
export const SERVICE = 'tapline'

/** The hook that looks credentials up has 30 seconds in all. */
const READ_DEADLINE_MS = 20_000
/** Somebody stands in front of it and may have to type the keychain's password. */
const CHANGE_DEADLINE_MS = 120_000

/** The operating system's keychain. It throws a {@link KeychainError} when it cannot be used, always within a bounded time. */
export interface SystemKeychain extends CredentialStore {
  read(ref: string): Promise<string | undefined>
  /** Stores a credential in place of an earlier one. */
  store(ref: string, value: string): Promise<void>
  /** Answers whether there was one. */
  remove(ref: string): Promise<boolean>
}

/** Why the keychain could not be used: a sentence without reference or secret. */
export class KeychainError extends Error {
  readonly failure: Failure

  constructor(failure: Failure, ms: number) {
    super(sentenceOf(failure, ms))
    this.failure = failure
  }
}

/** What {@link systemKeychain} takes. */
export interface SystemKeychainOptions {
  /** Milliseconds that a lookup may take; 20 s when absent. */
  readonly readMs?: number
}

/**
 * The keychain of macOS, the Credential Manager of Windows, the Secret Service of Linux. Nothing is loaded into this
 * process and nothing is started before the first question.
 */
export function systemKeychain(
  env: Readonly<Record<string, string | undefined>>,
  { readMs = READ_DEADLINE_MS }: SystemKeychainOptions = {},
): SystemKeychain {
  // One at a time: a locked keychain shows one prompt, and who waited behind it needs none.
  let last: Promise<Failure | undefined> = Promise.resolve(undefined)

  const lookUp = async (ref: string, before: Promise<Failure | undefined>): Promise<Answer> => {
    const deadline = performance.now() + readMs
    const failure = await before
    if (failure !== undefined) return { failure }
    return ask({ service: SERVICE, account: ref, action: 'read' }, env, deadline - performance.now())
  }
  return {
    label: 'the operating system’s keychain',
    read: async (ref) => {
      const answered = lookUp(ref, last)
      const mine = answered.then((answer) => ('failure' in answer ? answer.failure : undefined))
      last = mine
      // Whoever asks when nobody waits any more asks the keychain itself.
      void mine.then(() => (last === mine ? (last = Promise.resolve(undefined)) : undefined))
      const answer = await answered
      if ('failure' in answer) throw new KeychainError(answer.failure, readMs)
      return 'secret' in answer ? (answer.secret ?? undefined) : undefined
    },
    store: async (ref, value) => {
      const question: Question = { service: SERVICE, account: ref, action: 'store', secret: value }
      const answer = await ask(question, env, CHANGE_DEADLINE_MS)
      if ('failure' in answer) throw new KeychainError(answer.failure, CHANGE_DEADLINE_MS)
    },
    remove: async (ref) => {
      const answer = await ask({ service: SERVICE, account: ref, action: 'remove' }, env, CHANGE_DEADLINE_MS)
      if ('failure' in answer) throw new KeychainError(answer.failure, CHANGE_DEADLINE_MS)
      return 'removed' in answer && answer.removed
    },
  }
}

/** Asks in a process of its own, which has ended when this resolves. Never rejects. */
async function ask(
  question: Question,
  env: Readonly<Record<string, string | undefined>>,
  ms: number,
): Promise<Answer> {
  const script = createRequire(import.meta.url).resolve('@tapline/keychain/keyring')
  const child = spawn(process.execPath, [script], {
    env: { ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const end = (): void => void child.kill('SIGKILL')
  let output = ''
  let late = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stdin.on('error', () => undefined)
  child.once('error', () => resolve({ failure: 'absent' }))
  child.once('close', () => resolve(late ? { failure: 'silent' } : answerIn(output)))
  process.once('exit', end)
  const timer = setTimeout(
    () => {
      late = true
      end()
    },
    Math.max(0, ms),
  )
  // Open until it has answered: the end of its input is the end of it.
  child.stdin.write(`${JSON.stringify(question)}\n`)
  return promise.finally(() => {
    clearTimeout(timer)
    process.removeListener('exit', end)
    child.stdin.destroy()
  })
}

function answerIn(output: string): Answer {
  try {
    return JSON.parse(output) as Answer
  } catch {
    return { failure: 'failed' }
  }
}

function sentenceOf(failure: Failure, ms: number): string {
  switch (failure) {
    case 'absent':
      return 'there is none that answers here'
    case 'locked':
      return 'it is locked, or does not let Tapline in'
    case 'silent':
      return `it did not answer within ${Math.round(ms / 1000)} s`
    case 'too long':
      return 'it takes no credential of this length'
    case 'failed':
      return 'it failed'
  }
}

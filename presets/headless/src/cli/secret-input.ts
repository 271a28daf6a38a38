import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'

/** Longer than any token; what is longer was meant for something else. */
const MOST_CHARACTERS = 65_536

/** What reads a secret from a person, or from whatever is on standard input. */
export interface SecretSource {
  readonly input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>
  /** Where the question is written: never standard output, which programs read. */
  readonly output: NodeJS.WritableStream
}

/**
 * A secret from standard input: at a terminal it is asked for with `question` and not shown, otherwise everything up
 * to the end of the input, without the line break that ends it. Undefined when the person pressed Ctrl-C or Ctrl-D.
 */
export async function readSecret(
  question: string,
  { input, output }: SecretSource,
): Promise<string | undefined> {
  if (input.isTTY) return typed(question, input as ReadStream, output)
  const all = await text(input)
  if (all.length > MOST_CHARACTERS) throw new Error('Standard input holds far more than a token.')
  return all.replace(/\r?\n$/, '')
}

function typed(
  question: string,
  input: ReadStream,
  output: NodeJS.WritableStream,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  let secret = ''
  const end = (answer: string | undefined): void => {
    input.off('data', take)
    input.setRawMode(false)
    input.pause()
    output.write('\n')
    resolve(answer)
  }
  const take = (data: string): void => {
    // A terminal may wrap what is pasted.
    for (const character of data.replaceAll('\u001B[200~', '').replaceAll('\u001B[201~', '')) {
      if (character === '\r' || character === '\n') return end(secret)
      if (character === '\u0003' || character === '\u0004') return end(undefined)
      if (character === '\u007F' || character === '\b') secret = secret.slice(0, -1)
      else if (character === '\u0015') secret = ''
      else if (secret.length < MOST_CHARACTERS) secret += character
    }
  }
  // Before the question: nothing that is typed at once is shown, and no Ctrl-C goes past this.
  input.setRawMode(true)
  input.setEncoding('utf8')
  input.on('data', take)
  input.resume()
  output.write(question)
  return promise
}

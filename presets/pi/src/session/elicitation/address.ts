import type { UrlQuestion } from '@tapline/core'
import { theirs } from '../dialogs/marks.ts'
import type { Asked, Reply } from './asking.ts'
import type { Dialogs } from './dialogs.ts'
import { NEVER } from './form.ts'
import { whereIs } from './whereabouts.ts'
import { LATER } from './words.ts'

const OPEN = 'Open it in the browser'
const MYSELF = 'I open it myself'
const DECLINE = 'Decline'

const DONE = 'I am done there: go on'
const GIVE_UP = 'Give up'

/** Asks whether an address may be opened, and opens it then. Nothing is fetched here, before or after. */
export async function askForAddress(dialogs: Dialogs, asked: Asked<UrlQuestion>): Promise<Reply> {
  const { server, question, offersNever } = asked
  // The first one is what a person who was typing takes by mistake.
  const words = [LATER, OPEN, MYSELF, DECLINE, ...(offersNever ? [NEVER] : [])]
  const place = await dialogs.select(introduction(dialogs, asked), words)
  const said = place === undefined ? LATER : words[place]
  if (said === NEVER) return { action: 'never' }
  if (said === DECLINE) return { action: 'decline' }
  if (said === LATER) return { action: 'cancel' }
  await lead(dialogs, asked, said === OPEN)
  if (question.waits) return wait(dialogs, asked)
  const tellDone = (): void =>
    dialogs.tell(`The MCP server "${server}" says that all is done at ${question.host}.`)
  if (question.done.aborted) tellDone()
  else question.done.addEventListener('abort', tellDone, { once: true })
  return { action: 'accept' }
}

/** The address stays where it can be copied. */
async function lead(
  dialogs: Dialogs,
  { server, question: { url } }: Asked<UrlQuestion>,
  opens: boolean,
): Promise<void> {
  const opened = opens && (await dialogs.open(url).catch(() => false))
  const how = opened
    ? 'was opened in your browser'
    : opens
      ? 'could not be opened here: open it yourself'
      : 'waits for you'
  dialogs.tell(`What the MCP server "${server}" wants you to open ${how}:\n${url}`)
}

async function wait(
  dialogs: Dialogs,
  { server, question: { host, done } }: Asked<UrlQuestion>,
): Promise<Reply> {
  const lines = [
    `The MCP server "${server}" waits until you are done at ${host}.`,
    'What was called is called again then.',
  ]
  const words = [DONE, GIVE_UP]
  const place = done.aborted ? 0 : await dialogs.select(lines, words, done)
  return done.aborted || place === 0 ? { action: 'accept' } : { action: 'cancel' }
}

/** The server is named at both ends: a long address may leave only one of them on the screen. */
function introduction(dialogs: Dialogs, { server, question }: Asked<UrlQuestion>): readonly string[] {
  const { message, url, host } = question
  // There is no user name in front of it.
  const at = url.indexOf('//') + 2
  return [
    `The MCP server "${server}" asks you to open an address in your browser:`,
    ...theirs(message),
    `${url.slice(0, at)}${dialogs.mark(host)}${url.slice(at + host.length)}`,
    `"${server}" leads you to ${dialogs.mark(host)}. Nothing has been fetched from there.`,
    ...warnings(new URL(url)),
  ]
}

function warnings({ protocol, hostname }: URL): readonly string[] {
  const where = whereIs(hostname)
  return [
    ...(/(?:^|\.)xn--/.test(hostname)
      ? [
          '! This name has letters that may look like others; xn-- stands for them. Open it only if you know it.',
        ]
      : []),
    ...(where === 'here' ? ['! That is this machine.'] : []),
    ...(where === 'near' ? ['! That is in your own network.'] : []),
    ...(protocol === 'http:' && where !== 'here'
      ? ['! The connection is not encrypted: others may read and change it.']
      : []),
  ]
}

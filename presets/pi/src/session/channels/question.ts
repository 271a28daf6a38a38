import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText, type ServerSpec } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { UNRELAYED } from '../approvals.ts'
import type { Consent } from './consents.ts'
import { LONGEST_INSTRUCTIONS } from './instructions.ts'

const LATER = 'Ask again next time'
const SPEAK = 'Let it speak'
const SPEAK_AND_APPROVE = 'Let it speak, and approve tool calls for me'
const NO = 'No: to the inbox with what it sends'

const LONGEST_LINE = 2_000
const LONGEST_NAME = 64
const SHOWN_TOOLS = 20

/** Asks whether a server may be a channel, and says what it could do then. Undefined: not now. */
export async function askAboutChannel(
  ctx: ExtensionContext,
  { spec, session }: Server,
  tools: readonly string[],
  offersPermission: boolean,
): Promise<Consent | undefined> {
  const { item, selectIn } = await import('../dialogs/index.ts')
  // The first one is what a person who was typing takes by mistake.
  const options = [LATER, SPEAK, ...(offersPermission ? [SPEAK_AND_APPROVE] : []), NO]
  const facts = factsOf(session.status.instructions, tools, offersPermission)
  const lines = [
    `Let the MCP server "${spec.name}" speak in this conversation?`,
    ...whereaboutsOf(spec).map(item),
    'Whoever can write to it can then write to the model:',
    ...facts.map(item),
    'The answer holds until the way the server is reached changes.',
  ]
  const place = await selectIn(ctx, { lines, leave: LATER }, options, UNRELAYED)
  const answer = options[place ?? 0]
  const asked = offersPermission ? { permission: answer === SPEAK_AND_APPROVE } : {}
  if (answer === SPEAK || answer === SPEAK_AND_APPROVE) return { speak: true, ...asked }
  return answer === NO ? { speak: false, ...asked } : undefined
}

function whereaboutsOf(spec: ServerSpec): readonly string[] {
  return [reachOf(spec), `configured in ${cleanText(spec.source.label, LONGEST_LINE)}`]
}

/** What it could do. */
function factsOf(
  instructions: string | undefined,
  tools: readonly string[],
  offersPermission: boolean,
): readonly string[] {
  const shown = tools.slice(0, SHOWN_TOOLS).map((name) => cleanText(name, LONGEST_NAME))
  const more = tools.length - shown.length
  return [
    'each message starts a turn by itself, with its text, and the model may use every tool it has',
    ...(instructions === undefined
      ? []
      : [
          `its instructions become part of the system prompt: "${cleanText(instructions, LONGEST_INSTRUCTIONS)}"`,
        ]),
    ...(shown.length === 0
      ? []
      : [`the model answers with: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]),
    ...(offersPermission
      ? ['if you let it, it is shown tool calls that wait for your approval, and may answer for you']
      : []),
  ]
}

/** What runs or is called, without what may be secret in it. */
function reachOf({ transport }: ServerSpec): string {
  switch (transport.type) {
    case 'stdio':
      return `runs ${cleanText([transport.command, ...transport.args].join(' '), LONGEST_LINE)}`
    case 'streamable-http': {
      const url = URL.parse(transport.url)
      return `is reached at ${cleanText(url ? `${url.origin}${url.pathname}` : transport.url, LONGEST_LINE)}`
    }
    default:
      return `is reached by the transport "${cleanText(transport.name, LONGEST_LINE)}"`
  }
}

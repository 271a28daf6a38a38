import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText, jsonFile, type TrustQuestion } from '@tapline/core'
import { isBuiltInSilenced, setBuiltInSilenced, type TrustStore } from '@tapline/headless'
import { UNRELAYED } from './approvals.ts'

/** Asks about project files that nobody was asked about. Answers the paths of those that may now be used. */
export async function askAboutProject(
  ctx: ExtensionContext,
  questions: readonly TrustQuestion[],
  trust: TrustStore,
): Promise<readonly string[]> {
  const trusted: string[] = []
  if (questions.length === 0) return trusted
  const { item, selectIn, theirs } = await loadDialogs()
  for (const question of questions) {
    const lines = [
      'Use the MCP configuration of this project?',
      ...theirs(cleanText(question.path, 500)),
      ...question.facts.map(item),
      'The answer holds until the file changes.',
    ]
    const place = await selectIn(ctx, { lines, leave: LATER }, ANSWERS, UNRELAYED)
    const answer = ANSWERS[place ?? 0]
    if (answer !== YES && answer !== NO) continue
    await trust.save(question, answer === YES)
    if (answer === YES) trusted.push(question.path)
  }
  return trusted
}

const YES = 'Use this file'
const NO = 'Do not use it'
const LATER = 'Ask again next time'
/** The first one is what a person who was typing takes by mistake. */
const ANSWERS = [LATER, YES, NO]

const LEAVE_IT = 'Leave pi’s settings as they are'
const SILENCE_IT = 'Add the line'

interface Asked {
  readonly silence?: boolean
}

/** Offers once to silence pi's warning about its replaced MCP support, and says how to take that back. */
export async function offerSilence(ctx: ExtensionContext, agentDir: string): Promise<void> {
  if (ctx.mode !== 'tui' || !existsSync(agentDir) || isBuiltInSilenced(agentDir)) return
  const asked = jsonFile<Asked>({
    path: join(agentDir, 'tapline', 'asked.json'),
    empty: () => ({}),
    accepts: (content): content is Asked => typeof content === 'object' && content !== null,
  })
  if (asked.read().silence) return
  const lines = [
    'Tapline replaces pi’s built-in MCP support, and pi warns about it at each start.',
    'Adding "-builtin:mcp" to pi’s settings stops that. Take it back with "tapline doctor --undo":',
    'without Tapline, that line would leave pi without MCP.',
  ]
  const { selectIn } = await loadDialogs()
  // A typed-ahead Enter changes nothing.
  const place = await selectIn(ctx, { lines, leave: LEAVE_IT }, [LEAVE_IT, SILENCE_IT], UNRELAYED)
  await asked.update((content) => ({ ...content, silence: true }))
  if (place === 1) await setBuiltInSilenced(agentDir, true)
}

/** Few sessions ask anything. */
function loadDialogs() {
  return import('./dialogs/index.ts')
}

import type { Server } from '@tapline/headless'
import { wrap } from '../../screen/columns.ts'
import { type Line, line } from '../../screen/line.ts'
import type { CommandScope } from '../../commands/command.ts'
import { troubleOf } from '../standing.ts'
import { ago, count, fileTexts, transportText } from '../words.ts'

/** What stands below the list of the selected server: what is wrong, in so many rows, and what is known. */
export function serverDetails(
  server: Server,
  { paths, tapline }: Pick<CommandScope, 'paths' | 'tapline'>,
  width: number,
  most: number,
): readonly Line[] {
  const { spec, session } = server
  const { reason, advice } = troubleOf(server)
  const { received, lastEventAt } = tapline.pipeline.book(spec.name)
  const { protocolVersion, era } = session.status
  const wrapped = (color: 'error' | 'warning', text: string): readonly Line[] =>
    wrap(text.replaceAll(/\s+/g, ' '), width - 2, most).map((part) => line(color, ` ${part}`))
  const facts = [
    ...fileTexts(spec, paths),
    ...(protocolVersion === undefined ? [] : [`${protocolVersion} (${era})`]),
    ...(received === 0
      ? []
      : [`${count(received, 'push', 'pushes')}, last ${ago(lastEventAt ?? NaN, Date.now())}`]),
  ]
  return [
    ...(reason === undefined ? [] : wrapped('error', reason)),
    ...(advice === undefined ? [] : wrapped('warning', advice)),
    line('muted', ` ${transportText(spec, paths)}`),
    line('dim', ` ${facts.join(' · ')}`),
  ]
}

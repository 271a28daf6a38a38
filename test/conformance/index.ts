import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { EXPECTED } from './expectations.ts'
import { judge, type Verdict } from './judging.ts'
import { findSuite, type Scenario, type Suite } from './suite.ts'

/* `npm run conformance`: the official conformance suite against the client of Tapline, in every revision that has
   requirements. Prints one line for each scenario and ends with 1 when something is not as it is expected to be.
   `--from <directory>` takes the suite that is installed there; scenarios that are named are the only ones that run. */

const REVISIONS = ['2025-11-25', '2026-07-28']

const { values, positionals } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true })
const suite = findSuite(values.from)
if (suite) {
  console.log(`@modelcontextprotocol/conformance ${suite.version}`)
  for (const revision of REVISIONS) await runRevision(suite, revision, positionals)
} else {
  console.error(
    `@modelcontextprotocol/conformance is not installed${values.from ? ` in ${values.from}` : ': run npm install'}.`,
  )
  process.exitCode = 2
}

async function runRevision(suite: Suite, revision: string, only: readonly string[]): Promise<void> {
  const scenarios = (await suite.scenarios(revision)).filter(
    ({ name }) => only.length === 0 || only.includes(name),
  )
  const verdicts = new Map<Scenario, Verdict>()
  const waiting = [...scenarios]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      verdicts.set(next, judge(await suite.run(next, revision), EXPECTED[next.name]))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))

  console.log(`\n${revision}`)
  for (const scenario of scenarios) print(scenario, verdicts.get(scenario)!)
  const kinds = scenarios.filter(({ required }) => required).map((scenario) => verdicts.get(scenario)!.kind)
  const count = (kind: Verdict['kind']): number => kinds.filter((one) => one === kind).length
  console.log(
    `  of ${kinds.length} that are required, ${count('passed')} pass, ${count('fails as expected')} fail as expected, ${count('unexpected')} are unexpected`,
  )
  if ([...verdicts.values()].some(({ kind }) => kind === 'unexpected')) process.exitCode = 1
}

function print({ name, required }: Scenario, { kind, notes }: Verdict): void {
  const mark = kind === 'passed' ? '✓' : kind === 'fails as expected' ? '–' : '✗'
  const reason = kind === 'fails as expected' ? `: ${notes.join('; ')}` : ''
  console.log(`  ${mark} ${name}${required ? '' : ' (not required)'}${reason}`)
  if (kind === 'unexpected')
    for (const note of notes) console.log(`      ${note.replaceAll('\n', '\n      ')}`)
}

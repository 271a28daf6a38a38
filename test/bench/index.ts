/**
 * `npm run bench`: Tapline beside its peers in one run, as ratios. `-- --json` prints JSON; `-- --rounds N`
 * sets the rounds; `-- --report` also writes report.md beside this file.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { blocking } from './blocking.ts'
import { claims } from './claims.ts'
import { inboxListing } from './inbox.ts'
import { insidePi } from './inside-pi.ts'
import { listChanges } from './list-changes.ts'
import { describeMachine } from './machine.ts'
import { manyTools } from './many-tools.ts'
import { memory } from './memory.ts'
import { pushesInPi } from './pushes-in-pi.ts'
import { compare, type Comparison } from './ratios.ts'
import { report } from './report.ts'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
    only: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const wanted = (part: string): boolean => values.only === undefined || values.only.split(',').includes(part)

const BURST: readonly Comparison[] = [
  { name: '10,000 pushes, frame to tap', ours: 'taplineTap', peer: 'raw', figure: 'cpuMs', atMost: 1.7 },
  {
    name: '10,000 pushes, whole pipeline',
    ours: 'taplinePipeline',
    peer: 'raw',
    figure: 'cpuMs',
    atMost: 3.5,
  },
  {
    name: '10,000 pushes, whole pipeline',
    ours: 'taplinePipeline',
    peer: 'piMcp',
    figure: 'cpuMs',
    atMost: 2,
  },
  {
    name: '10,000 pushes, whole pipeline',
    ours: 'taplinePipeline',
    peer: 'sdk',
    figure: 'cpuMs',
    atMost: 0.2,
  },
]
const CALLS: readonly Comparison[] = [
  { name: '2,000 calls in turn', ours: 'taplineTap', peer: 'piMcp', figure: 'wallMs', atMost: 1.25 },
]
const FRAME: readonly Comparison[] = [
  { name: 'one 9 MB frame', ours: 'taplineTap', peer: 'raw', figure: 'wallMs', atMost: 1.5 },
]

const progress = (text: string): void => void process.stderr.write(`${text}\n`)
const result = {
  machine: describeMachine(),
  rounds,
  ratios: [
    ...(wanted('burst') ? (progress('pushes…'), await compare('burst', BURST, rounds)) : []),
    ...(wanted('calls') ? (progress('calls…'), await compare('calls', CALLS, rounds)) : []),
    ...(wanted('frame') ? (progress('frame…'), await compare('frame', FRAME, rounds)) : []),
  ],
  ...(wanted('claims') ? (progress('claims…'), { claims: await claims(rounds) }) : {}),
  ...(wanted('inbox') ? (progress('inbox…'), { inbox: await inboxListing(rounds) }) : {}),
  ...(wanted('lists') ? (progress('list changes…'), { listChanges: await listChanges() }) : {}),
  ...(wanted('pushes') ? (progress('pushes in pi…'), { pushesInPi: await pushesInPi() }) : {}),
  ...(wanted('many') ? (progress('many tools…'), { many: await manyTools(rounds, 1_000) }) : {}),
  ...(wanted('slow') ? (progress('a slow server…'), { slow: await manyTools(rounds, 10, 2_000) }) : {}),
  ...(wanted('cold') ? (progress('event loop…'), { cold: await blocking(rounds, 1_000) }) : {}),
  ...(wanted('memory') ? (progress('memory…'), { memory: await memory(rounds) }) : {}),
  ...(wanted('pi') ? (progress('inside pi…'), { insidePi: await insidePi(rounds) }) : {}),
}
const text = report(result)
console.log(values.json ? JSON.stringify(result, undefined, 2) : text)
if (values.report) writeFileSync(new URL('report.md', import.meta.url), text)

import type { Blocking } from './blocking.ts'
import type { Claims } from './claims.ts'
import type { InboxListing } from './inbox.ts'
import type { InsidePi } from './inside-pi.ts'
import type { ListChanges } from './list-changes.ts'
import type { Machine } from './machine.ts'
import type { ManyTools } from './many-tools.ts'
import type { Memory } from './memory.ts'
import type { PushesInPi } from './pushes-in-pi.ts'
import type { Ratio } from './ratios.ts'

/** Everything one run measured. */
export interface BenchResult {
  readonly machine: Machine
  readonly rounds: number
  readonly ratios: readonly Ratio[]
  readonly claims?: Claims
  readonly inbox?: InboxListing
  readonly listChanges?: ListChanges
  readonly pushesInPi?: PushesInPi
  readonly insidePi?: readonly InsidePi[]
  readonly many?: ManyTools
  readonly slow?: ManyTools
  readonly cold?: Blocking
  readonly memory?: Memory | undefined
}

const PEERS: Readonly<Record<string, string>> = { raw: 'raw loop', piMcp: 'pi-mcp 1.6.0', sdk: 'bare SDK' }

/** The result as a page. */
export function report({
  machine,
  rounds,
  ratios,
  claims,
  inbox,
  listChanges,
  pushesInPi,
  insidePi,
  many,
  slow,
  cold,
  memory,
}: BenchResult): string {
  const lines = [
    '# Bench',
    '',
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}. ${rounds} rounds; medians, and the ratio's least and most.`,
    'Processor time is the client process’s own, user and system; wall time is from the first byte asked for to the last answer. Every subject is warmed by 50 calls and 1,000 pushes.',
    '',
    '| what | peer | ours, ms | peer, ms | ratio | range | asked for | holds |',
    '|---|---|---:|---:|---:|---|---:|---|',
    ...ratios.map(
      ({ name, peer, figure, oursMs, peerMs, ratio, least, most, atMost }) =>
        `| ${name} (${figure === 'cpuMs' ? 'processor' : 'wall'}) | ${PEERS[peer] ?? peer} | ${oursMs.toFixed(0)} | ${peerMs.toFixed(0)} | ${ratio.toFixed(2)} | ${least.toFixed(2)}–${most.toFixed(2)} | ${atMost} | ${holds(ratio <= atMost)} |`,
    ),
    ...(insidePi ?? []).map(
      ({ name, oursMs, builtInMs, ratio, atMost }) =>
        `| ${name} (wall) | pi’s built-in MCP | ${oursMs.toFixed(0)} | ${builtInMs.toFixed(0)} | ${ratio.toFixed(2)} | | ${atMost} | ${holds(ratio <= atMost)} |`,
    ),
    ...[many, slow].flatMap((measured) => (measured ? manyRows(measured) : [])),
    '',
  ]
  if (many) lines.push(manyLine(many), '')
  if (cold) lines.push(coldLine(cold), '')
  if (memory) lines.push(memoryLine(memory), '')
  if (claims) {
    const { processes, claimsEach, keys, wrong, perSecond, firstUs, duplicateUs } = claims
    lines.push(
      `${processes} processes × ${claimsEach.toLocaleString('en')} claims on ${keys.toLocaleString('en')} keys in the machine-wide window: ${Math.round(perSecond).toLocaleString('en')} claims a second in all (asked for: at least 5,000), ${wrong} keys not first exactly once. A first claim of one process alone takes ${firstUs.toFixed(0)} µs, a duplicate from memory ${duplicateUs.toFixed(1)} µs (asked for: under 20).`,
      '',
    )
  }
  if (inbox) {
    const { entries, readMs, againMs, addMs } = inbox
    lines.push(
      `An inbox of ${entries.toLocaleString('en')} findings: listing a project of it takes ${readMs.toFixed(0)} ms when it has to be read (asked for: under 50), ${againMs.toFixed(1)} ms when it has not changed; adding one ${addMs.toFixed(0)} ms.`,
      '',
    )
  }
  if (listChanges)
    lines.push(
      `${listChanges.changes} list changes in a burst: ${listChanges.refetches} refetches (asked for: at most 2).`,
      '',
    )
  if (pushesInPi) lines.push(...pushLines(pushesInPi))
  return lines.join('\n')
}

function manyRows(measured: ManyTools): readonly string[] {
  const { tools, lateMs, oursMs, noServerMs, registeringMs, ratio, ratioToRegistering } = measured
  const server = lateMs > 0 ? `, server ${lateMs / 1000} s late` : ''
  const what = `first model request, ${tools.toLocaleString('en')} direct tools${server}, warm cache (wall)`
  const row = (peer: string, peerMs: number, to: number): string =>
    `| ${what} | ${peer} | ${oursMs.toFixed(0)} | ${peerMs.toFixed(0)} | ${to.toFixed(2)} | | 1.05 | ${holds(to <= 1.05)} |`
  return [
    row('pi without a server', noServerMs, ratio),
    row('pi, tools registered from memory', registeringMs, ratioToRegistering),
  ]
}

function manyLine(measured: ManyTools): string {
  const { tools, addedStartMs, addedByPiMs, oursMs, builtInMs, builtInDeclares } = measured
  const all = tools.toLocaleString('en')
  return `${all} direct tools known from an earlier session add ${addedStartMs.toFixed(0)} ms of processor time to pi's start (asked for: under 20; an extension that only registers them from memory adds ${addedByPiMs.toFixed(0)}), and the first request declares all of them after ${oursMs.toFixed(0)} ms; under the built-in support, that of the same run declares ${builtInDeclares.toLocaleString('en')} after ${builtInMs.toFixed(0)} ms.`
}

function coldLine({ tools, ours, builtIn }: Blocking): string {
  const all = tools.toLocaleString('en')
  return `Where nothing is known of ${all} direct tools, pi's event loop stands still for ${ours.wallMs.toFixed(0)} ms at most from the session's start until they are registered (asked for: at most 50), ${ours.cpuMs.toFixed(0)} ms of it in processor time; under the built-in support for ${builtIn.wallMs.toFixed(0)} ms, ${builtIn.cpuMs.toFixed(0)} ms of it in processor time.`
}

function memoryLine({ mb, moreMb }: Memory): string {
  const side = (kind: 'installed' | 'cloned'): string =>
    `${mb[kind].toFixed(0)} MB, ${moreMb[kind].toFixed(1)} more`
  return `At rest with three servers connected pi holds ${mb.builtIn.toFixed(0)} MB under the built-in support. With Tapline as npm installs it: ${side('installed')} (asked for: at most 15); from a clone, whose sources Node strips of their types: ${side('cloned')}.`
}

function holds(does: boolean): string {
  return does ? 'yes' : 'no'
}

function pushLines({ wireToMessage, keyPress }: PushesInPi): readonly string[] {
  const { median, p99, count, perSecond } = wireToMessage
  const { quiet, flooded } = keyPress
  return [
    `In the real pi, three servers pushing ${perSecond} a second in all: from the wire to the message in the session ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (asked for: under 50) over ${count.toLocaleString('en')} pushes.`,
    '',
    `A key press is on the screen of a terminal after ${quiet.median.toFixed(0)} ms, p99 ${quiet.p99.toFixed(0)} ms; while a server pushes ${keyPress.perSecond.toLocaleString('en')} a second against a limit of 6 an hour, after ${flooded.median.toFixed(0)} ms, p99 ${flooded.p99.toFixed(0)} ms (asked for: under 100). The look at the screen is part of it.`,
    '',
  ]
}

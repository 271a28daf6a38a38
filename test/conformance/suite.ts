import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const NAME = '@modelcontextprotocol/conformance'
const CLIENT = fileURLToPath(new URL('client.ts', import.meta.url))
/** A client that takes longer on a busy machine is ended by the suite. */
const LONGEST_MS = 120_000

/** A scenario of a revision; those that the revision does not require are optional or were added later. */
export interface Scenario {
  readonly name: string
  readonly required: boolean
}

/** One check of a scenario, as the suite reports it. */
interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
}

/** How a scenario went. */
export interface Run {
  readonly passed: number
  /** Failures and warnings, one for each check. */
  readonly failed: readonly { readonly check: string; readonly why: string }[]
  /** What the suite and the client said, for when no check says what was wrong. */
  readonly output: string
  readonly succeeded: boolean
}

/** The official conformance suite, as it is installed. */
export interface Suite {
  readonly version: string
  scenarios(revision: string): Promise<readonly Scenario[]>
  /** Starts our client against a scenario's server. */
  run(scenario: Scenario, revision: string): Promise<Run>
}

/** The suite in the repository, or that of another directory; undefined where it is not installed. */
export function findSuite(directory: string | undefined): Suite | undefined {
  const manifest = directory
    ? path.join(directory, 'node_modules', NAME, 'package.json')
    : findPackageJSON(NAME, import.meta.url)
  if (manifest === undefined || !existsSync(manifest)) return undefined
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    version: string
    bin: Record<string, string>
  }
  const script = path.join(path.dirname(manifest), Object.values(bin)[0] ?? '')
  return {
    version,
    scenarios: async (revision) => {
      const { stdout, output, code } = await node(script, 'list', '--client', '--requirements', revision)
      if (code !== 0) throw new Error(`The suite does not list its scenarios: ${output}`)
      return scenariosIn(stdout)
    },
    run: async ({ name, required }, revision) => {
      const directory = mkdtempSync(path.join(tmpdir(), 'tapline-conformance-'))
      try {
        // The suite takes the command apart at its blanks and hands it to a shell.
        const command = [process.execPath, '--disable-warning=ExperimentalWarning', CLIENT].join(' ')
        const options = ['--spec-version', revision, '--timeout', String(LONGEST_MS), '-o', directory]
        // Extensions belong to no revision, and are passed over otherwise.
        if (!required) options.push('--force')
        const { code, output } = await node(
          script,
          'client',
          '--command',
          command,
          '--scenario',
          name,
          ...options,
        )
        return { ...tally(checksIn(directory)), output, succeeded: code === 0 }
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    },
  }
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly output: string
}

async function node(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, stdout, output }
}

/** The list names what is required of servers and of clients, then what else there is, of each kind. */
function scenariosIn(list: string): readonly Scenario[] {
  const required = /^Client scenarios[^\n]*\n((?: +- \S+\n)+)/m.exec(list)?.[1] ?? ''
  return [
    ...[...required.matchAll(/- (\S+)/g)].map(([, name = '']) => ({ name, required: true })),
    ...[...list.matchAll(/- (\S+) \[client\]/g)].map(([, name = '']) => ({ name, required: false })),
  ]
}

function checksIn(directory: string): readonly Check[] {
  const file = readdirSync(directory, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('checks.json'),
  )
  return file === undefined ? [] : (JSON.parse(readFileSync(path.join(directory, file), 'utf8')) as Check[])
}

function tally(checks: readonly Check[]): Pick<Run, 'passed' | 'failed'> {
  const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  return {
    passed: checks.filter(({ status }) => status === 'SUCCESS').length,
    failed: failed.map(({ id, description, errorMessage }) => ({
      check: id,
      why: errorMessage ?? description ?? '',
    })),
  }
}

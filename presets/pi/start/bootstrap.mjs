// Runs on whatever Node the machine has, from 20 on, and needs nothing installed: it installs what the
// lockfile names when that is missing, and goes on under the repository's own Node.
//
//   node bootstrap.mjs <file.ts> [arguments...]

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
const windows = process.platform === 'win32'
const node = join(root, 'node_modules/node/bin', windows ? 'node.exe' : 'node')

const [file, ...args] = process.argv.slice(2)
if (file === undefined) fail('Say which file to run: node bootstrap.mjs <file.ts> [arguments...]')
const target = resolve(file)
if (!existsSync(target)) fail(`There is no file ${target}.`)
const missing = whatIsMissing()
if (missing !== undefined) install(missing)
if (!existsSync(node)) {
  fail(
    `The repository's own Node is absent (${node}): its install script did not run. ` +
      'Run `npm ci` in the repository with npm 11 or newer and without --ignore-scripts, then try again.',
  )
}
run()

/** One sentence about what is not installed as the lockfile says, or undefined when all is there. */
function whatIsMissing() {
  if (!existsSync(join(root, 'node_modules'))) return 'Nothing is installed yet.'
  if (!existsSync(node)) return "The repository's own Node is not installed."
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) continue
    const found = present[path]
    // What is optional may be for another platform.
    if (found === undefined ? !optional : found.version !== version)
      return `${path} is not installed as the lockfile says.`
  }
  return undefined
}

/** @returns {Record<string, { version?: string, optional?: boolean }>} */
function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(join(root, lockfile), 'utf8')).packages
  } catch {
    return {}
  }
}

/** Runs `npm ci` with the machine's own Node: npm must not stand on the one that it replaces. */
function install(reason) {
  process.stderr.write(`${reason} Running npm ci.\n`)
  const own = join(root, 'node_modules')
  const paths = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.startsWith(own))
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    // Standard output belongs to the program that follows.
    stdio: ['inherit', process.stderr, 'inherit'],
    shell: windows,
    env: { ...process.env, PATH: paths.join(delimiter) },
  })
  if (done.error) fail(`npm could not be started: ${done.error.message}`)
  if (done.status !== 0) fail('npm ci failed: its own messages are above.')
}

/** Runs the file under the repository's Node, with our input, output, signals and exit code. */
function run() {
  // What it starts finds the same Node first.
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const child = spawn(node, [target, ...args], { stdio: 'inherit', env: { ...process.env, PATH } })
  child.once('error', (error) => fail(`${node} could not be started: ${error.message}`))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends its interrupt to both of us.
      if (!(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal)
    })
  }
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

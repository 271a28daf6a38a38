/** pi's flags whose next argument is a value, whatever it looks like. */
const VALUED = new Set([
  '--provider',
  '--model',
  '--api-key',
  '--system-prompt',
  '--append-system-prompt',
  '--name',
  '-n',
  '--session',
  '--session-id',
  '--fork',
  '--session-dir',
  '--models',
  '--tools',
  '-t',
  '--exclude-tools',
  '-xt',
  '--thinking',
  '--export',
  '--extension',
  '-e',
  '--skill',
  '--prompt-template',
  '--theme',
])

/** pi's own flags for project trust, which it tells no extension about, read as pi reads them: the last one holds. */
export function approvalOnCommandLine(argv: readonly string[]): boolean | undefined {
  let approved: boolean | undefined
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i]!
    if (arg === '--') break
    // What stands behind any other flag is no value for pi when it begins with a dash, so it needs no skipping.
    if (VALUED.has(arg)) i++
    else if (arg === '--approve' || arg === '-a') approved = true
    else if (arg === '--no-approve' || arg === '-na') approved = false
  }
  return approved
}

/** pi's own flags for project trust, which it tells no extension about. */
export function approvalOnCommandLine(argv: readonly string[]): boolean | undefined {
  if (argv.includes('--approve') || argv.includes('-a')) return true
  if (argv.includes('--no-approve') || argv.includes('-na')) return false
  return undefined
}

type Environment = Readonly<Record<string, string | undefined>>

const POSIX = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z_]+|TERM|TMPDIR|TZ)$/
const WINDOWS = new RegExp(
  '^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES' +
    '|PROGRAMFILES\\(X86\\)|PROGRAMW6432|COMMONPROGRAMFILES|USERNAME|USERDOMAIN|USERPROFILE|HOMEDRIVE|HOMEPATH|HOME' +
    '|COMPUTERNAME|PROCESSOR_ARCHITECTURE|NUMBER_OF_PROCESSORS|OS|LANG|LC_[A-Z_]+|TERM|TZ)$',
  'i',
)

/**
 * The environment of a server: the host's, or only what the platform needs of it, and over that each of
 * `layers` in turn (DESIGN decision 10).
 */
export function serverEnvironment(
  host: Environment,
  inherit: boolean,
  layers: readonly Environment[],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32'
  const names = windows ? WINDOWS : POSIX
  const entries = new Map<string, readonly [string, string]>()
  const put = (layer: Environment, wanted: (name: string, value: string) => boolean): void => {
    for (const [name, value] of Object.entries(layer)) {
      // Windows does not tell `Path` from `PATH`, and of two it would take either.
      if (value !== undefined && wanted(name, value))
        entries.set(windows ? name.toUpperCase() : name, [name, value])
    }
  }
  // A value that begins with "()" is a function that some shell exported, not a setting.
  put(host, (name, value) => inherit || (names.test(name) && !value.startsWith('()')))
  for (const layer of layers) put(layer, () => true)
  return Object.fromEntries(entries.values())
}

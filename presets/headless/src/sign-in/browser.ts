import { spawn } from 'node:child_process'

/** An opener that has not failed by then has opened the address, or waits for the browser to end. */
const PATIENCE_MS = 1_000

/**
 * Opens an address in the browser of this machine, without a shell in between. Answers whether that seems to have
 * worked: whoever asks shows the address in any case.
 */
export function openBrowser(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const [command, args] = openerFor(process.platform, address)
  return new Promise((resolve) => {
    const opener = spawn(command, args, {
      stdio: 'ignore',
      detached: true,
      // Openers of Windows’ Linux fail in some directories, and an address needs none.
      cwd: '/',
      env: { ...env },
      windowsHide: true,
    })
    opener.unref()
    const timer = setTimeout(() => resolve(true), PATIENCE_MS)
    const end = (opened: boolean): void => {
      clearTimeout(timer)
      resolve(opened)
    }
    opener.once('error', () => end(false))
    opener.once('exit', (code) => end(code === 0))
  })
}

/** `cmd /c start` would read characters of the address as its own. */
function openerFor(platform: NodeJS.Platform, address: string): [command: string, args: string[]] {
  if (platform === 'darwin') return ['open', [address]]
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', address]]
  return ['xdg-open', [address]]
}

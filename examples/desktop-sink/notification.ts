/** A program that shows a notification. Texts are among its arguments or in its environment, never in code. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** How a notification is shown on this platform; undefined where nobody knows. */
export function notification(platform: string, title: string, body: string): Command | undefined {
  switch (platform) {
    case 'linux':
    case 'freebsd':
    case 'openbsd':
      return { file: 'notify-send', args: ['--app-name=Tapline', '--', title, escape(body)] }
    case 'darwin':
      return { file: 'osascript', args: [...APPLE_SCRIPT.flatMap((line) => ['-e', line]), title, body] }
    case 'win32':
      return {
        file: 'powershell.exe',
        args: ['-NoProfile', '-NonInteractive', '-Command', POWER_SHELL],
        env: { TAPLINE_TITLE: title, TAPLINE_BODY: body },
      }
    default:
      return undefined
  }
}

const APPLE_SCRIPT = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
]

const POWER_SHELL = `
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$toast = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$texts = $toast.GetElementsByTagName('text')
[void]$texts.Item(0).AppendChild($toast.CreateTextNode($env:TAPLINE_TITLE))
[void]$texts.Item(1).AppendChild($toast.CreateTextNode($env:TAPLINE_BODY))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($toast))
`

/** The desktop reads the body as markup, and notify-send makes a `<` of `\074` before that. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

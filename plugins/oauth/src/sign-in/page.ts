/** A page for the browser: plain, without scripts, and nothing that leaves it. */
export function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem; }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }
</style>
</head>
<body><h1>${escaped(title)}</h1><p>${escaped(text)}</p></body>
</html>
`
}

/** The address of the page holds the code: it must not be kept, nor told to anybody. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

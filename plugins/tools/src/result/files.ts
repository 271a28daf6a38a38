const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/aac': '.aac',
  'audio/flac': '.flac',
  'audio/mp4': '.m4a',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
  'audio/webm': '.weba',
  'audio/x-wav': '.wav',
  'image/avif': '.avif',
  'image/bmp': '.bmp',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/tiff': '.tiff',
  'image/webp': '.webp',
}

/** The extension of a file with such content. */
export function extensionOfType(mimeType: string): string {
  return EXTENSIONS[mimeType] ?? '.bin'
}

/** The extension that a URI ends in, else `.bin`. */
export function extensionOfUri(uri: string): string {
  const path = URL.parse(uri)?.pathname ?? uri
  return /\.[A-Za-z0-9]{1,8}$/.exec(path)?.[0] ?? '.bin'
}

/** Whether data of this type is shown as text. */
export function isTextType(mimeType: string | undefined): boolean {
  const type = (mimeType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return (
    type.startsWith('text/') || type === 'application/json' || type.endsWith('+json') || type.endsWith('+xml')
  )
}

/** A size as pi writes it: `12.0KB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / (1024 * 1024)).toFixed(1)}MB`
}

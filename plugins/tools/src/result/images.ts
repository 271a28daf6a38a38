/** What providers take as an image; one of another type makes every later request of the chat fail. */
const SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** How base64 of these formats begins. Providers refuse an image whose declared type is another. */
const BEGINNINGS = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const

/** As pi limits the images that it reads: below the 5 MB of the providers. */
const LARGEST_IMAGE = 4.5 * 1024 * 1024
/** Of one result: providers limit whole requests. */
const LARGEST_IMAGES = 16 * 1024 * 1024
const MOST_IMAGES = 20

/** An image that a model can be shown, or why not. */
export type ImageVerdict =
  | { readonly data: string; readonly mimeType: string }
  | { readonly mimeType: string; readonly reason: string; readonly bytes?: Buffer }

/** Judges the images of one result, in order. */
export function imageJudge(): (data: unknown, mimeType: unknown) => ImageVerdict {
  let count = 0
  let size = 0
  return (sent, declared) => {
    const data =
      typeof sent === 'string' ? sent.replace(/^data:[^,]*;base64,/, '').replace(/[\r\n]+/g, '') : ''
    const mimeType = typeOf(data, declared)
    if (data === '' || data.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
      return { mimeType, reason: 'it is not valid base64' }
    const kept = (reason: string): ImageVerdict => ({ mimeType, reason, bytes: Buffer.from(data, 'base64') })
    if (!SHOWN.has(mimeType)) return kept('models do not take images of this type')
    if (data.length > LARGEST_IMAGE) return kept('it is larger than models take')
    if (count >= MOST_IMAGES || size + data.length > LARGEST_IMAGES)
      return kept('the result has more images than a model takes')
    count += 1
    size += data.length
    return { data, mimeType }
  }
}

function typeOf(data: string, declared: unknown): string {
  const found = BEGINNINGS.find(([beginning]) => data.startsWith(beginning))
  if (found) return found[1]
  const type = typeof declared === 'string' ? (declared.split(';', 1)[0] as string).trim().toLowerCase() : ''
  return type === 'image/jpg' ? 'image/jpeg' : type || 'image/png'
}

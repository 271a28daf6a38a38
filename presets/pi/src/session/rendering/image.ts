import { drawableLine } from './words.ts'

/** The first bytes of an image tell how large it is; those of a photograph come after its notes. */
const HEAD_BYTES = 65_536

/** An image in words, as pi has it where a terminal shows none: `[Image: [image/png] 640x480]`. */
export function imageText({ data, mimeType }: { readonly data: string; readonly mimeType: string }): string {
  const head = Buffer.from(data.slice(0, Math.ceil(HEAD_BYTES / 3) * 4), 'base64')
  const size = SIZES.get(mimeType)?.(head)
  return `[Image: [${drawableLine(mimeType)}]${size ? ` ${size.join('x')}` : ''}]`
}

type Size = readonly [width: number, height: number]

const SIZES: ReadonlyMap<string, (head: Buffer) => Size | undefined> = new Map([
  ['image/png', sizeOfPng],
  ['image/gif', sizeOfGif],
  ['image/jpeg', sizeOfJpeg],
])

function sizeOfPng(head: Buffer): Size | undefined {
  const isOne = head.length >= 24 && head.subarray(1, 4).toString('latin1') === 'PNG'
  return isOne ? [head.readUInt32BE(16), head.readUInt32BE(20)] : undefined
}

function sizeOfGif(head: Buffer): Size | undefined {
  const isOne = head.length >= 10 && head.subarray(0, 3).toString('latin1') === 'GIF'
  return isOne ? [head.readUInt16LE(6), head.readUInt16LE(8)] : undefined
}

/** A JPEG is a row of segments; a frame header has the size. */
function sizeOfJpeg(head: Buffer): Size | undefined {
  if (head.length < 4 || head.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= head.length) {
    if (head[at] !== 0xff) return undefined
    const marker = head[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return [head.readUInt16BE(at + 7), head.readUInt16BE(at + 5)]
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

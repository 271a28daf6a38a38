import { isRecord } from '../order.ts'
import { cleanLine } from '../text.ts'
import { extensionOfType, extensionOfUri, formatSize, isTextType } from './files.ts'
import type { ImageVerdict } from './images.ts'
import type { ModelContent, SaveFile } from './limiting.ts'

/** How blocks are mapped. */
export interface BlockContext {
  readonly server: string
  /** Whether `read_mcp_resource` reaches this server. */
  readonly readableResources: boolean
  /** What is done with audio: pi says that it is left out, elsewhere it is saved. */
  readonly savesAudio: boolean
  /** What is done with images that cannot be shown. */
  readonly savesImages: boolean
  /** Whether each image is also named in the text, as UniPi does. */
  readonly namesImages: boolean
  readonly saveFile: SaveFile
  judgeImage(data: unknown, mimeType: unknown): ImageVerdict
}

const LONGEST_URI = 2_048
const LONGEST_NOTE = 1_000

/** What the model is given of one block, whatever the server sent as such. */
export async function blockContent(block: unknown, context: BlockContext): Promise<readonly ModelContent[]> {
  if (!isRecord(block)) return [note('unsupported MCP content')]
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? [text(block['text'])] : [note('text without text')]
    case 'image':
      return imageContent(block['data'], block['mimeType'], 'Image', context)
    case 'audio':
      return [await audioNote(block, context)]
    case 'resource_link':
      return [linkNote(block, context)]
    case 'resource':
      return resourceContent(isRecord(block['resource']) ? block['resource'] : {}, context)
    default:
      return [note(`unsupported MCP content ${said(block['type'], 64)}`)]
  }
}

async function imageContent(
  data: unknown,
  type: unknown,
  what: string,
  context: BlockContext,
): Promise<readonly ModelContent[]> {
  const verdict = context.judgeImage(data, type)
  if ('data' in verdict) {
    const { data: bytes, mimeType } = verdict
    const named = context.namesImages ? [note(`Image: ${mimeType}`)] : []
    return [...named, { type: 'image', data: bytes, mimeType }]
  }
  const { mimeType, reason, bytes } = verdict
  const shown = `${what} (${cleanLine(mimeType, 100)}${bytes ? `, ${formatSize(bytes.length)}` : ''}) not shown: ${reason}`
  if (!bytes || !context.savesImages) return [note(shown)]
  return [note(`${shown}. ${await savedAs(bytes, extensionOfType(mimeType), context, 'Saved to')}`)]
}

async function audioNote(
  block: Readonly<Record<string, unknown>>,
  context: BlockContext,
): Promise<ModelContent> {
  const mimeType = said(block['mimeType'], 100) || 'audio of unknown type'
  const { data } = block
  if (!context.savesAudio || typeof data !== 'string') return note(`audio ${mimeType} omitted`)
  const bytes = Buffer.from(data, 'base64')
  return note(
    `Audio (${mimeType}, ${formatSize(bytes.length)}) ${await savedAs(bytes, extensionOfType(mimeType), context)}`,
  )
}

function linkNote(
  block: Readonly<Record<string, unknown>>,
  { server, readableResources }: BlockContext,
): ModelContent {
  const { size, title, name, description } = block
  const facts = [said(block['mimeType'], 100), typeof size === 'number' ? formatSize(size) : ''].filter(
    (fact) => fact !== '',
  )
  const about = said(description, LONGEST_NOTE)
  const details = `${facts.length > 0 ? ` (${facts.join(', ')})` : ''}${about === '' ? '' : `: ${about}`}`
  const read = readableResources ? `. Read it with read_mcp_resource (server "${server}")` : ''
  return note(`Resource ${said(block['uri'], LONGEST_URI)} "${said(title ?? name, 200)}"${details}${read}`)
}

async function resourceContent(
  resource: Readonly<Record<string, unknown>>,
  context: BlockContext,
): Promise<readonly ModelContent[]> {
  const uri = said(resource['uri'], LONGEST_URI)
  if (typeof resource['text'] === 'string') return [text(resource['text'])]
  const { blob } = resource
  if (typeof blob !== 'string') return [note(`resource ${uri} without content`)]
  const mimeType = said(resource['mimeType'], 100)
  if (mimeType.startsWith('image/')) return imageContent(blob, mimeType, `Image ${uri}`, context)
  const bytes = Buffer.from(blob, 'base64')
  if (isTextType(mimeType)) return [text(bytes.toString('utf8'))]
  const what = `Binary resource ${uri} (${mimeType || 'unknown type'}, ${formatSize(bytes.length)})`
  return [note(`${what} ${await savedAs(bytes, extensionOfUri(uri), context)}`)]
}

async function savedAs(
  bytes: Buffer,
  extension: string,
  { saveFile }: BlockContext,
  saved = 'saved to',
): Promise<string> {
  try {
    return `${saved} ${await saveFile(bytes, extension)}`
  } catch (thrown) {
    return `could not be saved: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  }
}

/** Text passes as it is. Half characters alone are replaced: they make a request invalid. */
function text(value: string): ModelContent {
  return { type: 'text', text: value.toWellFormed() }
}

function note(value: string): ModelContent {
  return { type: 'text', text: `[${value}]` }
}

function said(value: unknown, limit: number): string {
  return typeof value === 'string' ? cleanLine(value, limit) : ''
}

import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import { cleanLines, type ContentBlock } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { type ModelContent, saveOutput, toModelResult } from '@tapline/tools'

type SentContent = Exclude<Parameters<ExtensionAPI['sendUserMessage']>[0], string>
type Image = Extract<SentContent[number], { type: 'image' }>

/** A message of the person's, as a prompt makes it. */
export interface PromptMessage {
  readonly text: string
  /** In the order in which the text names them. */
  readonly images: readonly Image[]
}

/** What the content of a prompt is limited for. */
export interface PromptPlace {
  readonly server: Server
  /** As the server knows it. */
  readonly prompt: string
  /** The home directory. */
  readonly home: string
  /** Whether the model can read the server's resources. */
  readonly readsResources: boolean
}

/**
 * One message: text is limited as the server's results are, binaries go to private files, and nothing in it steers a
 * terminal. pi puts images behind the text, so the text says where they were when there are several.
 */
export async function messageFrom(
  content: readonly ContentBlock[],
  { server, prompt, home, readsResources }: PromptPlace,
): Promise<PromptMessage> {
  const { spec } = server
  const as = { server: spec, serverTool: { name: prompt, inputSchema: {} } }
  const saveFile = saveOutput(spec.results.overflow, { home })
  const shown = await toModelResult({ content }, as, { saveFile, readableResources: readsResources })
  const images = shown.content.filter((block) => block.type === 'image')
  const isAmbiguous = images.length > 1 || images.length === shown.content.length
  const texts = shown.content.map((block) => textOf(block, isAmbiguous ? images : []))
  const text = cleanLines(texts.filter((part) => part !== '').join('\n\n'))
  return { text, images: images.map(({ data, mimeType }) => ({ type: 'image', data, mimeType })) }
}

/** For pi to send: text alone, or with its images. */
export function sentContent({ text, images }: PromptMessage): string | SentContent {
  return images.length === 0 ? text : [{ type: 'text', text }, ...images]
}

function textOf(block: ModelContent, images: readonly ModelContent[]): string {
  if (block.type === 'text') return block.text
  const index = images.indexOf(block)
  return index < 0 ? '' : `[Image ${index + 1}]`
}

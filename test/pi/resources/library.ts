import path from 'node:path'
import { servers } from '../../drivers/fixtures.ts'
import type { Stage } from '../stage.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** What the scripted server answers: every kind of resource, in two pages, among them what models cannot use. */
export const library = {
  instructions: 'Books.',
  'tools/list': {
    '': { tools: [{ name: 'link', description: 'Answers with a link.', inputSchema: { type: 'object' } }] },
  },
  'tools/call': {
    link: {
      content: [
        {
          type: 'resource_link',
          uri: 'demo:text',
          name: 'text',
          title: 'A text',
          description: 'To be read.',
          mimeType: 'text/plain',
          size: 2_048,
        },
      ],
    },
  },
  'resources/list': {
    '': {
      resources: [
        { uri: 'demo:text', name: 'text', title: 'A text', description: 'Of few words.', size: 12 },
        { uri: 'ui://panel', name: 'panel', mimeType: 'text/html' },
        { uri: 'demo:app', name: 'app', mimeType: 'text/html;profile=mcp-app' },
        { uri: 'demo:unnamed', mimeType: 'text/plain' },
        { uri: 'demo:image', name: 'image', icons: [{ src: 'data:,x' }], _meta: { internal: true } },
      ],
      nextCursor: '2',
    },
    2: { resources: [{ uri: 'demo:binary', name: 'binary', annotations: { priority: 1 } }], nextCursor: '' },
  },
  'resources/templates/list': {
    '': {
      resourceTemplates: [
        { uriTemplate: 'demo:{name}', name: 'any', description: 'Anything.', icons: [{ src: 'data:,x' }] },
        { uriTemplate: 'ui://{panel}', name: 'panels' },
      ],
    },
  },
  'resources/read': {
    'demo:text': {
      contents: [{ uri: 'demo:text', mimeType: 'text/plain', text: 'Grüße ☃\n', _meta: { x: 1 } }],
    },
    'demo:image': { contents: [{ uri: 'demo:image', mimeType: 'image/png', blob: png }] },
    'demo:binary': {
      contents: [{ uri: 'demo:/a/b.pdf', mimeType: 'application/pdf', blob: base64('%PDF-1.4 …') }],
    },
    'demo:markup': {
      contents: [
        { uri: 'demo:markup', mimeType: 'application/xhtml+xml; charset=utf-8', blob: base64('<p/>') },
      ],
    },
    'demo:several': {
      contents: [
        { uri: 'demo:several/1', text: 'one' },
        { uri: 'demo:several/2', mimeType: 'application/json', blob: base64('{"two":2}') },
        { uri: 'demo:several/3', mimeType: 'application/octet-stream', blob: base64('\u0000\u0001') },
      ],
    },
    'demo:nothing': { contents: [] },
    'demo:long': { contents: [{ uri: 'demo:long', text: 'A line of a long text. é\n'.repeat(2_000) }] },
  },
}

/** An entry whose server answers from `script.json` of the stage, and logs to `<name>.jsonl` where a name is given. */
export function scriptedEntry(
  { scratch }: Pick<Stage, 'scratch'>,
  { script = 'script.json', log }: { readonly script?: string; readonly log?: string } = {},
): { command: string; args: string[] } {
  const files = [script, ...(log === undefined ? [] : [`${log}.jsonl`])].map((file) =>
    path.join(scratch.root, file),
  )
  return { command: process.execPath, args: [servers.scripted, ...files] }
}

import type { JsonSchema } from '@tapline/core'
import { isRecord, setKey } from '../order.ts'
import { KINDS } from './keywords.ts'

/* The fields of text and image blocks, which scripts read most, in one compact type. */
const BLOCK = {
  type: 'object',
  properties: {
    type: { enum: ['text', 'image', 'audio', 'resource_link', 'resource'] },
    text: { type: 'string' },
    data: { type: 'string' },
    mimeType: { type: 'string' },
  },
  required: ['type'],
  additionalProperties: true,
}

/** What scripts get of every MCP tool, as pi declares it: a CallToolResult whose `structuredContent` is the tool's output. */
export function resultSchema(output?: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      content: { type: 'array', items: BLOCK },
      // Servers send structured content without a schema for it too, and it may be any JSON value.
      structuredContent: output ? relocated(output, '#/properties/structuredContent') : {},
      isError: { type: 'boolean' },
    },
    required: ['content'],
    // Newer versions of the protocol add fields.
    additionalProperties: true,
  }
}

/** A schema as a part of another one: its local references lead to the same places as before. */
function relocated(schema: unknown, pointer: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => relocated(item, pointer))
  // Inside of a resource of its own, references do not lead out of it.
  if (!isRecord(schema) || typeof schema['$id'] === 'string') return schema
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) setKey(copy, key, relocatedValue(key, value, pointer))
  return copy
}

function relocatedValue(key: string, value: unknown, pointer: string): unknown {
  const kind = KINDS.get(key)
  if (kind === 'reference') {
    return value === '#' || (typeof value === 'string' && value.startsWith('#/'))
      ? pointer + value.slice(1)
      : value
  }
  if (kind === 'data' || kind === 'enum' || kind === 'examples') return value
  if ((kind === 'map' || kind === 'patterns' || kind === 'dependencies') && isRecord(value)) {
    const copy: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(value)) setKey(copy, name, relocated(schema, pointer))
    return copy
  }
  return relocated(value, pointer)
}

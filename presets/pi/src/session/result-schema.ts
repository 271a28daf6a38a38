import type { JsonSchema } from '@tapline/core'

/** A content block as scripts read it; rendered into the declaration of every MCP tool. */
const BLOCK: JsonSchema = {
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

/** Keywords whose values are data: a `$ref` in them is no reference. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose values map names to schemas: their keys are no keywords. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'])

/** The schema of what scripts receive: a CallToolResult with the tool's own output schema inside. */
export function resultSchema(structured: JsonSchema | undefined): JsonSchema {
  return {
    type: 'object',
    properties: {
      content: { type: 'array', items: BLOCK },
      structuredContent: structured ? moved(structured, '#/properties/structuredContent') : {},
      isError: { type: 'boolean' },
    },
    required: ['content'],
    additionalProperties: true,
  }
}

/** `schema` with its local references rewritten to where it now stands. */
function moved(schema: unknown, to: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => moved(item, to))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string' && (value === '#' || value.startsWith('#/'))) return [key, `${to}${value.slice(1)}`]
      if (DATA.has(key)) return [key, value]
      if (MAPS.has(key) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, moved(inner, to)]))]
      }
      return [key, moved(value, to)]
    }),
  )
}

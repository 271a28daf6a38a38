import type { JsonSchema, ToolAnnotations } from '@tapline/core'

/** What the model is told of a resource tool. The words are those of pi, Codex and OpenCode: models know them. */
export interface ResourceTool {
  readonly name: ResourceToolName
  readonly label: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: ToolAnnotations
}

/** The names of the resource tools. */
export type ResourceToolName = 'list_mcp_resources' | 'list_mcp_resource_templates' | 'read_mcp_resource'

const text = (description?: string): JsonSchema => ({
  type: 'string',
  ...(description === undefined ? {} : { description }),
})

const LIST_PARAMETERS = {
  type: 'object',
  properties: {
    server: text('MCP server name. Omit to list every server with resources.'),
    cursor: text('Opaque cursor from a previous call with the same server; omit for the first page.'),
  },
  additionalProperties: false,
}

const READ_PARAMETERS = {
  type: 'object',
  properties: {
    server: text(
      "MCP server name exactly as configured. Must match the 'server' field returned by list_mcp_resources.",
    ),
    uri: text('Resource URI to read. Must be one of the URIs returned by list_mcp_resources.'),
  },
  required: ['server', 'uri'],
  additionalProperties: false,
}

const FACTS = { title: text(), description: text(), mimeType: text() }

const READ_OUTPUT = {
  type: 'object',
  properties: {
    server: text(),
    uri: text(),
    contents: {
      type: 'array',
      items: {
        anyOf: [
          {
            type: 'object',
            properties: { uri: text(), mimeType: text(), text: text() },
            required: ['uri', 'text'],
          },
          {
            type: 'object',
            properties: { uri: text(), mimeType: text(), blob: text('base64') },
            required: ['uri', 'blob'],
          },
        ],
      },
    },
  },
  required: ['server', 'uri', 'contents'],
}

/** The resource tools, in the order in which they are registered. */
export const RESOURCE_TOOLS: readonly ResourceTool[] = [
  {
    name: 'list_mcp_resources',
    label: 'list_mcp_resources',
    description:
      'Lists resources provided by MCP servers. Resources allow servers to share data that provides context to language models, such as files, database schemas, or application-specific information. Prefer resources over web search when possible.',
    parameters: LIST_PARAMETERS,
    outputSchema: listOutput('resources', {
      properties: {
        server: text(),
        uri: text(),
        name: text(),
        ...FACTS,
        size: { type: 'number' },
      },
      required: ['server', 'uri', 'name'],
    }),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'list_mcp_resource_templates',
    label: 'list_mcp_resource_templates',
    description:
      'Lists resource templates provided by MCP servers. Parameterized resource templates allow servers to share data that takes parameters and provides context to language models, such as files, database schemas, or application-specific information. Prefer resource templates over web search when possible.',
    parameters: LIST_PARAMETERS,
    outputSchema: listOutput('resourceTemplates', {
      properties: {
        server: text(),
        uriTemplate: text('RFC 6570 URI template'),
        name: text(),
        ...FACTS,
      },
      required: ['server', 'uriTemplate', 'name'],
    }),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'read_mcp_resource',
    label: 'read_mcp_resource',
    description: 'Read a specific resource from an MCP server given the server name and resource URI.',
    parameters: READ_PARAMETERS,
    outputSchema: READ_OUTPUT,
    annotations: { readOnlyHint: true },
  },
]

function listOutput(
  key: string,
  item: { readonly properties: JsonSchema; readonly required: readonly string[] },
): JsonSchema {
  return {
    type: 'object',
    properties: {
      server: text(),
      [key]: { type: 'array', items: { type: 'object', ...item } },
      nextCursor: text(),
      errors: {
        type: 'array',
        description: 'Servers that could not be listed',
        items: {
          type: 'object',
          properties: { server: text(), error: text() },
          required: ['server', 'error'],
        },
      },
    },
    required: [key],
  }
}

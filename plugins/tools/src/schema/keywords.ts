/** How the value of a keyword is read, checked and put in order. */
export type Kind =
  | 'schema'
  | 'schemas'
  | 'items'
  | 'map'
  | 'patterns'
  | 'dependencies'
  | 'lists'
  | 'required'
  | 'type'
  | 'enum'
  | 'examples'
  | 'data'
  | 'words'
  | 'word'
  | 'mark'
  | 'flag'
  | 'count'
  | 'number'
  | 'bound'
  | 'step'
  | 'pattern'
  | 'reference'

/* Draft-07 and 2020-12 in one table: what only one of them knows is harmless in the other. */
const KEYWORDS: Readonly<Record<Kind, string>> = {
  schema:
    'additionalItems additionalProperties contains contentSchema else if not propertyNames then ' +
    'unevaluatedItems unevaluatedProperties',
  schemas: 'allOf anyOf oneOf prefixItems',
  items: 'items',
  map: '$defs definitions dependentSchemas properties',
  patterns: 'patternProperties',
  dependencies: 'dependencies',
  lists: 'dependentRequired',
  required: 'required',
  type: 'type',
  enum: 'enum',
  examples: 'examples',
  data: 'const default',
  words: '$comment description title',
  word: '$anchor $dynamicAnchor $id $schema contentEncoding contentMediaType format',
  mark: 'deprecated readOnly writeOnly',
  flag: 'uniqueItems',
  count: 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties',
  number: 'maximum minimum',
  bound: 'exclusiveMaximum exclusiveMinimum',
  step: 'multipleOf',
  pattern: 'pattern',
  reference: '$dynamicRef $recursiveRef $ref',
}

/** Keyword → kind. What is not here is data of somebody's own. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, keywords]) =>
    keywords.split(' ').map((keyword) => [keyword, kind as Kind]),
  ),
)

/** The seven types of JSON Schema. */
export const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
])

// Tools as large as tools are, for servers and extensions under measurement.

const string = (description) => ({ type: 'string', description })

/** As many tools as asked for, as a server lists them. */
export const toolSet = (count) =>
  Array.from({ length: count }, (_, n) => ({
    name: `records_${n}`,
    description: `Searches the records of department ${n} and answers those that match, newest first.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: string('Words that a record must contain.'),
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many records at most.' },
        order: { enum: ['newest', 'oldest'], description: 'Which come first.' },
        filter: {
          type: 'object',
          properties: { owner: string('Whose records.'), since: string('A date.') },
          additionalProperties: false,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  }))

/** An object of a file. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value of a file is an object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

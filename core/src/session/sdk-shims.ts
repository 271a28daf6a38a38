import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/client'

/**
 * Stands in, in what is published, for the part of the SDK that brings a JSON Schema validator: a quarter of the whole, never
 * asked, since every client is given {@link DefaultJsonSchemaValidator}. A `TypeError` of `fetch` is one of the network here.
 *
 * @public
 */
export const CORS_IS_POSSIBLE = false

/** Takes every value as it is. */
export class DefaultJsonSchemaValidator implements jsonSchemaValidator {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (value) => ({ valid: true, data: value as T, errorMessage: undefined })
  }
}

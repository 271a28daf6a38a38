import { sdkError } from '../sdk-errors.ts'

/** `URLElicitationRequiredError` (specification 2025-11-25, client/elicitation). */
const URL_ELICITATION_REQUIRED = -32042
/** More than so many addresses at a time nobody opens. */
const MOST_ADDRESSES = 4

/** The questions that a server wants answered before it answers, as params of `elicitation/create`; undefined for other errors. */
export function requiredBy(thrown: unknown): readonly unknown[] | undefined {
  const error = sdkError(thrown)
  if (error.data['code'] !== URL_ELICITATION_REQUIRED) return undefined
  const { data } = (error.cause ?? {}) as { readonly data?: { readonly elicitations?: unknown } }
  const found = data?.elicitations
  if (!Array.isArray(found) || found.length === 0 || found.length > MOST_ADDRESSES) return undefined
  return found.map((params: unknown) => ({ ...(params as object), mode: 'url' }))
}

import { messageOf, type ServerTool, type Trigger } from '@tapline/core'

/** Arguments of answering tools that take the text, by the names that servers give them. */
const TEXT_ARGUMENTS = ['text', 'message', 'content', 'body']
const ANSWER = 'Received by "tapline channel test".'

/** What a tool is called with. */
export type Arguments = Readonly<Record<string, unknown>>

/** The arguments that were typed, or what is wrong with them. */
export function readArguments(json: string): Arguments | string {
  let given: unknown
  try {
    given = JSON.parse(json)
  } catch (thrown) {
    return `The arguments are not JSON: ${messageOf(thrown)}`
  }
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  return isObject ? (given as Arguments) : 'The arguments must be a JSON object.'
}

/** What the event says under the names of the tool's arguments, and a text where one is taken. */
export function argumentsFor({ inputSchema }: ServerTool, { attributes = {} }: Trigger): Arguments {
  const { properties } = (inputSchema ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> }
  return Object.fromEntries(
    Object.keys(properties ?? {}).flatMap((name) => {
      if (Object.hasOwn(attributes, name)) return [[name, attributes[name]]]
      return TEXT_ARGUMENTS.includes(name) ? [[name, ANSWER]] : []
    }),
  )
}

import type { Prompt } from './source.ts'
import { cleanLine, cut } from './text.ts'

const LONGEST_DESCRIPTION = 200
const LONGEST_ARGUMENT = 40
const MOST_ARGUMENTS = 8

/** What may be typed behind the command: `<file> [style]`. Empty for a prompt without arguments. */
export function usageOf(prompt: Prompt): string {
  const shown = prompt.arguments.slice(0, MOST_ARGUMENTS).map(({ name, required }) => {
    const said = cleanLine(name, LONGEST_ARGUMENT)
    return required ? `<${said}>` : `[${said}]`
  })
  return [...shown, ...(prompt.arguments.length > shown.length ? ['…'] : [])].join(' ')
}

/** One line about a command: its arguments, and what the server says of the prompt. */
export function describePrompt(server: string, prompt: Prompt): string {
  const { title = '', description = '' } = prompt
  const said =
    cleanLine(description, LONGEST_DESCRIPTION) ||
    cleanLine(title, LONGEST_DESCRIPTION) ||
    `Prompt of MCP server "${server}"`
  return cut([usageOf(prompt), said].filter((part) => part !== '').join(' — '), LONGEST_DESCRIPTION)
}

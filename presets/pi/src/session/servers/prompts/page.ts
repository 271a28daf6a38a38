import { cleanText } from '@tapline/core'
import type { Prompt, PromptCommand } from '@tapline/prompts'
import { wrap } from '../../screen/columns.ts'
import { line } from '../../screen/line.ts'
import { NOT_LOADED, wordsOf } from '../../prompts/lists.ts'
import { createItemsPage, detailLines, type Item } from '../items/page.ts'
import type { Page, Panel } from '../page.ts'
import { said } from '../words.ts'

const LONGEST_NAME = 200
const LONGEST_WORDS = 600
const MOST_ARGUMENTS = 20
const NONE: readonly PromptCommand[] = []

/** The prompts of a server as the commands that they are; what the server changes is shown by itself. */
export function createPromptsPage(panel: Panel, name: string): Page {
  const book = () => panel.scope.tapline.services.prompts?.book
  let made: { readonly of: readonly PromptCommand[]; readonly items: readonly Item[] } | undefined
  return createItemsPage(panel, {
    title: `Prompts of ${name}`,
    noun: 'prompt',
    detailRows: 6,
    items: () => {
      const of = book()?.commandsOf(name) ?? NONE
      if (made?.of !== of) made = { of, items: of.map(itemOf) }
      return made.items
    },
    head: ({ width }) => {
      const failure = book()?.failureOf(name)
      if (failure === undefined) return []
      return wrap(said(wordsOf(failure), LONGEST_WORDS), width - 2, 4).map((part) =>
        line('error', ` ${part}`),
      )
    },
    nothing: () => {
      if (book() === undefined) return NOT_LOADED
      if (book()?.listingOf(name) !== undefined) return 'The server has none.'
      return book()?.failureOf(name) === undefined ? 'Listing…' : ''
    },
  })
}

function itemOf({ name, prompt }: PromptCommand): Item {
  const { title = '', description = '' } = prompt
  return {
    key: prompt.name,
    name: `/${name}`,
    color: 'text',
    about: said(description, LONGEST_WORDS) || said(title, LONGEST_WORDS),
    details: (...room) => detailLines([`/${name}`, ...detailsOf(name, prompt)], ...room),
  }
}

function detailsOf(command: string, { name, description = '', arguments: taken }: Prompt): readonly string[] {
  return [
    ...(command.endsWith(`:${name}`) ? [] : [`the server’s name for it: ${cleanText(name, LONGEST_NAME)}`]),
    said(description, LONGEST_WORDS),
    ...taken.slice(0, MOST_ARGUMENTS).map(({ name: argument, required, description: about = '' }) => {
      const words = said(about, 300)
      return `${said(argument, 60)}${required ? ' (required)' : ''}${words === '' ? '' : `: ${words}`}`
    }),
  ].filter(Boolean)
}

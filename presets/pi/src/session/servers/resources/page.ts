import { messageOf } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { wrap } from '../../screen/columns.ts'
import { line } from '../../screen/line.ts'
import { createItemsPage, detailLines, type Item } from '../items/page.ts'
import type { Page, Panel } from '../page.ts'
import { count, said } from '../words.ts'
import { listResources, type Resource } from './listing.ts'

/** Both spellings of it. */
const CHANGED = /^notifications\/resources\/list_?changed$/i
const ANEW = 'changed since: r lists again'
const LONGEST_ADDRESS = 300
const LONGEST_WORDS = 600

/** The resources of a server, asked for when the page is opened. */
export function createResourcesPage(panel: Panel, server: Server): Page {
  let asking = new AbortController()
  let items: readonly Item[] | undefined
  let isCut = false
  let problem: string | undefined
  let askedAt = 0
  const hasChanged = (): boolean =>
    panel.scope.tapline.pipeline
      .book(server.spec.name)
      .recent.some(({ method, ts }) => ts >= askedAt && CHANGED.test(method))
  const ask = async (): Promise<void> => {
    asking.abort()
    const { signal } = (asking = new AbortController())
    items = undefined
    isCut = false
    problem = undefined
    askedAt = Date.now()
    try {
      const listing = await listResources(server, signal)
      if (signal.aborted) return
      items = listing.resources.map(itemOf)
      isCut = listing.isCut
    } catch (thrown) {
      if (signal.aborted) return
      problem = messageOf(thrown)
    }
    panel.redraw()
  }
  void ask()
  return createItemsPage(panel, {
    title: `Resources of ${server.spec.name}`,
    noun: 'resource',
    detailRows: 6,
    items: () => items,
    about: () =>
      [...(isCut ? ['and there are more'] : []), ...(items && hasChanged() ? [ANEW] : [])].join(', '),
    nothing: () => (items ? 'The server has none.' : problem === undefined ? 'Listing…' : ''),
    head: ({ width }) =>
      problem === undefined ? [] : wrap(problem, width - 2, 4).map((part) => line('error', ` ${part}`)),
    hints: [['r', 'list again']],
    type: (letter) => {
      if (letter === 'r') void ask()
    },
    close: () => asking.abort(),
  })
}

function itemOf(resource: Resource, index: number): Item {
  const { uri, uriTemplate, title, name } = resource
  const address = words(uri, LONGEST_ADDRESS) || words(uriTemplate, LONGEST_ADDRESS) || '(no address)'
  return {
    key: typeof uri === 'string' ? uri : `${index}`,
    name: address,
    color: 'text',
    about: words(title, LONGEST_WORDS) || words(name, LONGEST_WORDS),
    details: (...room) => detailLines([address, ...detailsOf(resource)], ...room),
  }
}

function detailsOf({ uriTemplate, mimeType, size, description }: Resource): readonly string[] {
  const facts = [
    ...(uriTemplate === undefined ? [] : ['template']),
    words(mimeType, 80),
    ...(typeof size === 'number' && Number.isFinite(size) ? [count(size, 'byte')] : []),
  ]
  return [words(description, LONGEST_WORDS), facts.filter(Boolean).join(' · ')].filter(Boolean)
}

function words(value: unknown, limit: number): string {
  return typeof value === 'string' ? said(value, limit) : ''
}

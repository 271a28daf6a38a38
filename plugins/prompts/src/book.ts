import { createFlight, type Clock, type Flight } from './flight.ts'
import { listPrompts, type PromptListing } from './listing.ts'
import { byCodeUnits, commandsOf, type PromptCommand, splitCommand } from './naming.ts'
import type { PromptServer } from './source.ts'

/** The prompts of servers, as they were last listed. */
export interface PromptBook {
  /** Lists the prompts of a server anew, one list at a time. Rejects when it fails: what was listed before stays. */
  refresh(server: PromptServer): Promise<PromptListing>
  /** What a server offered when it was last listed. */
  listingOf(server: string): PromptListing | undefined
  /** Why the last list of a server failed; undefined when it did not, or there was none. */
  failureOf(server: string): Error | undefined
  /** The commands of one server's prompts, in the order of their names. */
  commandsOf(server: string): readonly PromptCommand[]
  /** The commands of all servers, in the order of their names. */
  readonly commands: readonly PromptCommand[]
  /** The prompt that a command stands for now. */
  command(name: string): PromptCommand | undefined
  /** A server is gone, and its prompts with it. */
  forget(server: string): void
  /** The names of the servers that have been listed, or are being. */
  readonly servers: readonly string[]
  close(): void
}

interface Page {
  readonly server: PromptServer
  readonly flight: Flight<PromptListing>
  listing?: PromptListing
  failure?: Error | undefined
  commands: readonly PromptCommand[]
}

const NONE: readonly PromptCommand[] = []

/** An empty book; `onChange` is told after each change of what a server offers. */
export function createPromptBook(
  onChange: (server: string) => void = () => undefined,
  clock?: Clock,
): PromptBook {
  const pages = new Map<string, Page>()
  const pageOf = (server: PromptServer): Page => {
    const known = pages.get(server.name)
    if (known?.server === server) return known
    known?.flight.close()
    const page: Page = {
      server,
      flight: createFlight(() => list(page), clock),
      ...(known?.listing ? { listing: known.listing } : {}),
      commands: known?.commands ?? NONE,
    }
    pages.set(server.name, page)
    return page
  }
  const list = async (page: Page): Promise<PromptListing> => {
    const { server } = page
    const listing = await listPrompts(server).catch((thrown: unknown) => {
      page.failure = thrown instanceof Error ? thrown : new Error(String(thrown))
      throw thrown
    })
    page.failure = undefined
    // One that was replaced or taken away meanwhile has no say any more.
    if (pages.get(server.name) === page && JSON.stringify(page.listing) !== JSON.stringify(listing)) {
      page.listing = listing
      page.commands = commandsOf(server.name, listing.prompts)
      onChange(server.name)
    }
    return listing
  }
  return {
    refresh: (server) => pageOf(server).flight.run(),
    listingOf: (server) => pages.get(server)?.listing,
    failureOf: (server) => pages.get(server)?.failure,
    commandsOf: (server) => pages.get(server)?.commands ?? NONE,
    get commands() {
      return [...pages.keys()].sort(byCodeUnits).flatMap((server) => pages.get(server)?.commands ?? NONE)
    },
    command: (name) =>
      pages.get(splitCommand(name)?.server ?? '')?.commands.find((command) => command.name === name),
    forget: (server) => {
      const page = pages.get(server)
      if (!page) return
      page.flight.close()
      pages.delete(server)
      if (page.commands.length > 0) onChange(server)
    },
    get servers() {
      return [...pages.keys()]
    },
    close: () => {
      for (const { flight } of pages.values()) flight.close()
    },
  }
}

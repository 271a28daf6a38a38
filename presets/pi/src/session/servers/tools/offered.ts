import type { ServerTool, ToolSpec } from '@tapline/core'
import type { Tapline } from '@tapline/headless'

/** A tool of a server as the page shows it. */
export interface OfferedTool {
  readonly spec: ToolSpec
  /** Why the model is not offered it; `hidden` tools have no reason, they are configured so. */
  readonly refusal: string | undefined
}

/** The tools of one server, looked up again when they or their entry have changed. */
export class OfferedTools {
  readonly #tapline: Tapline
  readonly #name: string
  #tools: readonly OfferedTool[] = []
  #listing: unknown
  #entry: unknown

  constructor(tapline: Tapline, name: string) {
    this.#tapline = tapline
    this.#name = name
  }

  /** In the order of their names, those that are left out last. */
  list(): readonly OfferedTool[] {
    const { catalogue } = this.#tapline
    const listing = catalogue.listingOf(this.#name)
    const entry = this.#tapline.server(this.#name)?.spec
    if (listing === this.#listing && entry === this.#entry) return this.#tools
    this.#listing = listing
    this.#entry = entry
    const { tools, setAside } = catalogue.list({ provisional: true })
    this.#tools = [...tools, ...setAside]
      .filter(({ server }) => server.name === this.#name)
      .map((spec) => ({ spec, refusal: spec.hidden }))
    return this.#tools
  }

  /** The tool that the server calls so. */
  named(tool: string): OfferedTool | undefined {
    return this.list().find(({ spec }) => spec.serverTool.name === tool)
  }
}

/** What hints of a server say about its tool, in words. */
export function hintsText({ annotations = {} }: Pick<ServerTool, 'annotations'>): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  const words = [
    ...(readOnlyHint === undefined ? [] : [readOnlyHint ? 'reads only' : 'changes things']),
    ...(destructiveHint === undefined ? [] : [destructiveHint ? 'may destroy' : 'destroys nothing']),
    ...(idempotentHint === undefined ? [] : [idempotentHint ? 'may be repeated' : 'not to be repeated']),
    ...(openWorldHint === undefined ? [] : [openWorldHint ? 'reaches outside' : 'stays inside']),
  ]
  return words.join(', ')
}
